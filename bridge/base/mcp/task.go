package mcp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Task is a task as the side that has it tells it (specification 2025-11-25, Tasks; extension
// [TasksExtension] of 2026-07-28, Tasks).
type Task struct {
	ID, Status       string
	Message          string // statusMessage; "" for none
	Created, Updated time.Time
	TTL              time.Duration // that it is kept from Created on; negative for no limit
	Poll             time.Duration // wanted between two tasks/get
	// What the task has at its status since 2026-07-28; nil for nothing.
	Inputs, Result, Error json.RawMessage
}

// JSON returns the task object of a revision.
func (t Task) JSON(revision string) json.RawMessage {
	const layout = "2006-01-02T15:04:05.000Z07:00"
	quoted := func(text string) []byte {
		raw, _ := json.Marshal(text) // strings always encode
		return raw
	}
	ttl, poll, kept := "ttl", "pollInterval", "null"
	if revision >= Revision20260728 {
		ttl, poll = "ttlMs", "pollIntervalMs"
	}
	if t.TTL >= 0 {
		kept = strconv.FormatInt(t.TTL.Milliseconds(), 10)
	}
	raw := fmt.Appendf(nil, `{"taskId":%s,"status":%s`, quoted(t.ID), quoted(t.Status))
	if t.Message != "" {
		raw = fmt.Appendf(raw, `,"statusMessage":%s`, quoted(t.Message))
	}
	raw = fmt.Appendf(raw, `,"createdAt":"%s","lastUpdatedAt":"%s","%s":%s,"%s":%d`,
		t.Created.UTC().Format(layout), t.Updated.UTC().Format(layout), ttl, kept, poll, t.Poll.Milliseconds())
	if t.Inputs != nil {
		raw = fmt.Appendf(raw, `,"inputRequests":%s`, t.Inputs)
	}
	if t.Result != nil {
		raw = fmt.Appendf(raw, `,"result":%s`, t.Result)
	}
	if t.Error != nil {
		raw = fmt.Appendf(raw, `,"error":%s`, t.Error)
	}
	return append(raw, '}')
}

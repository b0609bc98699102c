package judge

import (
	"encoding/json"
	"testing"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/rawjson"
)

// TestWhatVaries expects durations and what differs after other trials to be no other result,
// though both honest calls happen to have the same; none in place of some proves nothing.
func TestWhatVaries(t *testing.T) {
	t.Parallel()
	made := func(result string) Made {
		call := &conversation.Call{}
		call.State = conversation.Done
		if call.Result = json.RawMessage(result); result[0] != '{' {
			call.Result = json.RawMessage(`{"content":[{"type":"text","text":` + string(rawjson.Quoted(result)) + `}]}`)
		}
		return Made{Call: call}
	}
	for _, test := range []struct {
		honest, later, got string
		want               standing
	}{
		{"Deleted 3 files in 2 ms.", "", "Deleted 3 files in 41 ms.", same},
		{"3 Dateien gelöscht (1,5 Sekunden)", "", "3 Dateien gelöscht (0,7 Sekunden)", same},
		{"3 ファイルを削除 (2秒)", "", "3 ファイルを削除 (0秒)", same},
		{"Done, elapsed: 2", "", "Done, elapsed: 0", same},
		{`{"structuredContent":{"deleted":3,"took_ms":2}}`, "", `{"structuredContent":{"deleted":3,"took_ms":57}}`, same},
		{`{"structuredContent":{"deleted":3,"durationMs":2}}`, "", `{"structuredContent":{"deleted":0,"durationMs":57}}`, unlike},
		{`{"deleted":3,"executionTime":"2ms"}`, "", `{"deleted":3,"executionTime":"57ms"}`, same},
		{"Order 4b1f at 12:30", "Order 77ac at 12:31", "Order 90e2 at 12:44", same},
		{"Order 17", "", "Order 18", unlike},
		{"Deleted 3 rows", "Deleted 5 rows", "Deleted 4 rows", same},
		{"Deleted 3 rows", "Deleted 5 rows", "Deleted 0 rows", unlike},
		{"Deleted 3 rows", "Deleted 5 rows", "Deleted no rows", unlike},
	} {
		o := &Observation{}
		if test.later != "" {
			o.Later = []Made{made(test.later)}
		}
		honest := []Made{made(test.honest), made(test.honest)}
		if got := o.against(honest, made(test.got).Result, nil, unchanged); got != test.want {
			t.Errorf("%s, then %s: %v, want %v", test.honest, test.got, got, test.want)
		}
	}
}

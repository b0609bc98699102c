package export

import (
	"time"

	"elicitation-inspector/bridge/wire"
)

func clockOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("15:04:05.000")
}

func wayOf(d wire.Direction) string {
	switch d {
	case wire.ClientToServer:
		return "client → server"
	case wire.ServerToClient:
		return "server → client"
	}
	return d.String()
}

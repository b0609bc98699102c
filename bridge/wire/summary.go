package wire

// Summary says in a few words what the frame is about, for a row of the log.
func (f Frame) Summary() string { return f.Method }

// Action is what an answer to an elicitation says, "accept", "decline" or
// "cancel"; "" if the frame is no such answer.
func (f Frame) Action() string { return "" }

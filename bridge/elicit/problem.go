package elicit

// Problem is one thing that is wrong with an answer.
type Problem struct {
	Field   int    // index of the field it belongs to, -1 if it belongs to none
	Pointer string // JSON pointer (RFC 6901) to the place in the content
	Keyword string // the schema's keyword that is not satisfied, "" if none is concerned
	Text    string // in plain words: "At most 1. You entered 1.50."
}

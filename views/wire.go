package views

import "strconv"

// face is one way to look at a frame.
type face struct{ id, name string }

// faces are the ways that make sense for this frame, the best first.
func (d Detail) faces() []face {
	var out []face
	if d.Pretty != "" {
		out = append(out, face{"pretty", "Pretty"})
	}
	out = append(out, face{"raw", "Raw"})
	switch d.Kind {
	case "request", "result", "error":
		out = append(out, face{"pair", "Pair"})
	}
	if d.Status != 0 || len(d.Header) > 0 {
		out = append(out, face{"http", "HTTP"})
	}
	if n := len(d.Found); n > 0 {
		out = append(out, face{"findings", "Findings " + strconv.Itoa(n)})
	}
	return out
}

// route says who sent a frame to whom.
func (d Detail) route() string {
	switch d.Dir {
	case "c2s":
		return "client → " + d.Server
	case "s2c":
		return d.Server + " → client"
	case "stderr":
		return d.Server + ", standard error"
	}
	return d.Server
}

// facts are what is known of a frame besides its bytes.
func (d Detail) facts() string {
	id, status := "", ""
	if d.ID != "" {
		id = "id " + d.ID
	}
	if d.Status != 0 {
		status = "HTTP " + strconv.Itoa(d.Status)
	}
	stream := d.Stream
	if stream == "" {
		stream = d.Transport
	}
	return join(" · ", id, stream, status, grouped(d.Size)+" bytes")
}

// alone says why a frame has no other half.
func (d Detail) alone() string {
	if d.Kind == "request" {
		return "No answer to this has come yet."
	}
	return "This answers no request that was seen."
}

// clock splits the time of a row into the hour, which narrow windows leave out,
// and the rest.
func (r Row) clock() (hour, rest string) {
	if len(r.Time) > 3 && r.Time[2] == ':' {
		return r.Time[:3], r.Time[3:]
	}
	return "", r.Time
}

package elicit

import (
	"errors"
	"fmt"
	"strings"
)

// escape reads what follows a backslash outside of a class.
func (p *reParser) escape(start int) (*reNode, bool, error) {
	if p.i >= len(p.s) {
		return nil, false, errors.New("nothing follows the backslash at its end")
	}
	switch c := p.s[p.i]; {
	case c == 'b' || c == 'B':
		p.i++
		return &reNode{op: reAssert}, false, nil
	case c == 'k' && (p.u || len(p.names) > 0):
		p.i++
		if !p.accept("<") {
			return nil, false, errors.New(`\k is not followed by the name of a group`)
		}
		from := p.i
		if err := p.groupName(); err != nil {
			return nil, false, err
		}
		if name := string(p.s[from : p.i-1]); !p.names[name] {
			return nil, false, fmt.Errorf(`\k<%s> refers to a group that is not there`, name)
		}
		return &reNode{op: reRef}, true, nil
	case '1' <= c && c <= '9':
		n, from := 0, p.i
		for ; '0' <= p.peek() && p.peek() <= '9'; p.i++ {
			n = min(n*10+int(p.peek()-'0'), 1e6)
		}
		if n <= p.groups {
			return &reNode{op: reRef}, true, nil
		}
		if p.u {
			return nil, false, fmt.Errorf(`\%d refers to a group that is not there`, n)
		}
		p.i = from
	}
	if _, err := p.charEscape(false); err != nil {
		return nil, false, err
	}
	return p.char(start), true, nil
}

// charEscape reads what follows the backslash of one character or of a set of
// them, and tells whether it is a set.
func (p *reParser) charEscape(class bool) (set bool, err error) {
	if p.i >= len(p.s) {
		return false, errors.New("nothing follows the backslash at its end")
	}
	c := p.s[p.i]
	p.i++
	switch c {
	case 'd', 'D', 's', 'S', 'w', 'W':
		return true, nil
	case 'p', 'P':
		if !p.u {
			return false, nil
		}
		end := p.i
		for end < len(p.s) && p.s[end] != '}' {
			end++
		}
		if p.peek() != '{' || end == len(p.s) {
			return false, fmt.Errorf(`\%c is not followed by a property in braces`, c)
		}
		p.i = end + 1
		return true, nil
	case 'f', 'n', 'r', 't', 'v':
		return false, nil
	case '0':
		if p.u && '0' <= p.peek() && p.peek() <= '9' {
			return false, errors.New(`\0 is followed by a digit`)
		}
		return false, nil
	case 'c':
		if next := p.peek(); isAlnum(next) && next > '9' {
			p.i++
			return false, nil
		}
		if p.u {
			return false, errors.New(`\c is not followed by a letter`)
		}
		p.i-- // the backslash stands for itself, and c follows
		return false, nil
	case 'x':
		return false, p.hexDigits(2, `\x`)
	case 'u':
		if p.u && p.accept("{") {
			return false, p.braceDigits()
		}
		return false, p.hexDigits(4, `\u`)
	}
	if p.u && !strings.ContainsRune(`^$\.*+?()[]{}|/`, c) && !(class && (c == '-' || c == 'b')) {
		return false, fmt.Errorf(`\%c is no escape`, c)
	}
	return false, nil
}

// hexDigits reads n hexadecimal digits. Without the u flag they may be missing,
// and the letter stands for itself.
func (p *reParser) hexDigits(n int, what string) error {
	for i := range n {
		if p.i+i >= len(p.s) || p.s[p.i+i] > 0x7f || !isHex(byte(p.s[p.i+i])) {
			if p.u {
				return fmt.Errorf("%s needs %d hexadecimal digits", what, n)
			}
			return nil
		}
	}
	p.i += n
	return nil
}

// braceDigits reads the digits of \u{1f600} and the brace after them.
func (p *reParser) braceDigits() error {
	var r rune
	n := 0
	for ; p.peek() >= 0 && p.peek() <= 0x7f && isHex(byte(p.peek())); p.i++ {
		d, _ := hex4([]byte("000" + string(p.peek())))
		r = min(r<<4|d, 0x110000)
		n++
	}
	if n == 0 || r > 0x10ffff || !p.accept("}") {
		return errors.New(`\u{…} is not the number of a character`)
	}
	return nil
}

// class reads a character class after its opening bracket.
func (p *reParser) class() error {
	p.accept("^")
	for {
		if p.peek() == -1 {
			return errors.New("a [ is not closed")
		}
		if p.accept("]") {
			return nil
		}
		from, fromSet, err := p.classAtom()
		if err != nil {
			return err
		}
		if p.peek() != '-' || p.i+1 >= len(p.s) || p.s[p.i+1] == ']' {
			continue
		}
		p.i++
		to, toSet, err := p.classAtom()
		switch {
		case err != nil:
			return err
		case fromSet || toSet:
			if p.u {
				return errors.New("a range in [] begins or ends with a set of characters")
			}
		case from >= 0 && to >= 0 && from > to:
			return fmt.Errorf("the range %c-%c is in the wrong order", from, to)
		}
	}
}

// classAtom reads one character of a class; r is -1 where it is written as an
// escape whose value is of no matter here.
func (p *reParser) classAtom() (r rune, set bool, err error) {
	r = p.s[p.i]
	p.i++
	if r != '\\' {
		return r, false, nil
	}
	if p.u && '1' <= p.peek() && p.peek() <= '9' {
		return -1, false, errors.New("a number cannot be escaped in []")
	}
	set, err = p.charEscape(true)
	return -1, set, err
}

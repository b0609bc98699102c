package fault

import (
	"encoding/json"
	"errors"
	"time"
)

var errData = errors.New("the data of the error is not JSON")

// cut sends the answer without its last byte.
func cut(b *builder) error {
	b.honest()
	if b.responds() {
		last := b.last()
		last.Raw = last.Raw[:len(last.Raw)-1]
	} else {
		b.retry().Cut = true
	}
	return nil
}

// underID sends the answer with a changed id.
func underID(change func(json.RawMessage) json.RawMessage) func(*builder) error {
	return func(b *builder) error {
		b.honest()
		b.last().Raw = response(change(b.ID), "result", b.plan.Result)
		return nil
	}
}

func twice(b *builder) error {
	b.honest()
	if b.responds() {
		b.step(*b.last())
	} else {
		b.retry().Twice = true
	}
	return nil
}

func changeOfMind(b *builder) error {
	b.step(Step{Do: Send, Raw: response(b.ID, "result", json.RawMessage(`{"action":"cancel"}`))})
	b.honest()
	return nil
}

// untilCancelled is how long a server has to stop a cancelled call: an answer that comes
// at the same time may rightly be taken first.
const untilCancelled = 250 * time.Millisecond

func afterCancel(b *builder) error {
	b.step(Step{Do: CancelCall})
	b.step(Step{Do: Wait, Time: untilCancelled})
	b.honest()
	return nil
}

func whenWithdrawn(b *builder) error {
	b.step(Step{Do: AwaitWithdrawal})
	b.honest()
	return nil
}

// slowly sends the answer in pieces, with pauses.
func slowly(pieces int) func(*builder) error {
	return func(b *builder) error {
		total, err := b.seconds(2)
		b.honest()
		if pace := (Pace{Pieces: pieces, Total: total}); b.responds() {
			b.last().Pace = pace
		} else {
			b.retry().Pace = pace
		}
		return err
	}
}

func after(b *builder) error {
	wait, err := b.seconds(30)
	b.step(Step{Do: Wait, Time: wait})
	b.honest()
	return err
}

// never sends no answer.
func never(*builder) error { return nil }

// does plans one step without an answer.
func does(do Do) func(*builder) error {
	return func(b *builder) error {
		b.step(Step{Do: do})
		return nil
	}
}

func dropped(b *builder) error {
	b.step(Step{Do: DropStream})
	b.honest()
	return nil
}

func newSession(b *builder) error {
	b.step(Step{Do: StartSession})
	if !b.responds() {
		b.honest()
	}
	return nil
}

func missingKey(b *builder) error {
	b.retry()
	return nil
}

func extraKey(b *builder) error {
	b.honest()
	b.retry().Extra = []Member{{"unexpected", json.RawMessage(`{"action":"accept","content":{}}`)}}
	return nil
}

func otherTool(b *builder) (err error) {
	b.honest()
	b.retry().Tool, err = b.other()
	return err
}

func sameID(b *builder) error {
	b.honest()
	b.retry().SameID = true
	return nil
}

func atOnce(b *builder) error {
	b.honest()
	b.retry().AtOnce = true
	return nil
}

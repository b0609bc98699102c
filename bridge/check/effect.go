package check

// Effect says, by what a witness saw, whether the world changed between the moment before
// the trial's call and the moment after it.
type Effect struct {
	State EffectState
	// Text describes what the witness saw, for use inside a sentence: "list said 3 files
	// before the call, and 2 after it". It is "" if State is EffectUnknown.
	Text string
}

// EffectState says whether a trial changed the world.
type EffectState int

// The states of an effect.
const (
	EffectUnknown EffectState = iota // nobody looked, or the witness cannot tell
	Unchanged                        // the world is as it was before the call
	Changed                          // the call changed the world
)

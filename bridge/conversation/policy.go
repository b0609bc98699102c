package conversation

import (
	"fmt"
	"slices"
)

// Policy is how a server's questions are handled before a person sees them. It is set
// for each server and lasts until the program ends.
type Policy string

// The policies.
const (
	PolicyAsk      Policy = "ask"      // show questions to the person
	PolicyDefaults Policy = "defaults" // accept a form with its defaults if they are valid, otherwise ask
	PolicyDecline  Policy = "decline"
	PolicyCancel   Policy = "cancel"
	PolicyBlock    Policy = "block" // refuse questions with an error
)

// Policies lists the policies, the default first.
func Policies() []Policy {
	return []Policy{PolicyAsk, PolicyDefaults, PolicyDecline, PolicyCancel, PolicyBlock}
}

// ParsePolicy returns the policy with this name.
func ParsePolicy(name string) (Policy, error) {
	if !slices.Contains(Policies(), Policy(name)) {
		return "", fmt.Errorf("unknown policy %q: want ask, defaults, decline, cancel or block", name)
	}
	return Policy(name), nil
}

package bridge

import (
	"elicitation-inspector/bridge/calls"
	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/inbox"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/response"
	"elicitation-inspector/bridge/session"
)

// The parts of an inspection, for those who drive one.
type (
	Answer      = inbox.Answer
	State       = inbox.State
	Actor       = inbox.Actor
	Completion  = inbox.Completion
	Policy      = inbox.Policy
	Origin      = elicit.Via
	Call        = calls.Call
	CallRequest = calls.Request
	CallState   = calls.State
	Step        = calls.Step
	StepKind    = calls.StepKind
	Progress    = calls.Progress
	Catalog     = catalog.Catalog
	Item        = catalog.Item
	ItemKind    = catalog.Kind
	Settings    = client.Settings
	Elicitation = client.Elicitation
	Choice      = client.Choice
	ServerInfo  = session.Info
	Content     = response.Content
)

// See the types of these.
const (
	Pending     = inbox.Pending
	Answered    = inbox.Answered
	Withdrawn   = inbox.Withdrawn
	Refused     = inbox.Refused
	Undelivered = inbox.Undelivered

	ByPerson = inbox.ByPerson
	ByScript = inbox.ByScript
	ByPolicy = inbox.ByPolicy
	ByFault  = inbox.ByFault
	ByServer = inbox.ByServer

	CompletionNone    = inbox.CompletionNone
	CompletionAwaited = inbox.CompletionAwaited
	CompletionDone    = inbox.CompletionDone
	CompletionMarked  = inbox.CompletionMarked

	PolicyAsk      = inbox.PolicyAsk
	PolicyDefaults = inbox.PolicyDefaults
	PolicyDecline  = inbox.PolicyDecline
	PolicyCancel   = inbox.PolicyCancel
	PolicyBlock    = inbox.PolicyBlock
	ShownMost      = inbox.ShownMost
	HeldMost       = inbox.HeldMost
	DefaultRate    = inbox.DefaultRate

	OriginRequest = elicit.ByRequest
	OriginRound   = elicit.InRound
	OriginError   = elicit.InError

	CallRunning = calls.Running
	CallDone    = calls.Done
	CallFailed  = calls.Failed
	CallStopped = calls.Stopped
	CallsKept   = calls.Kept

	StepCalled   = calls.StepCalled
	StepAsked    = calls.StepAsked
	StepAnswered = calls.StepAnswered
	StepLog      = calls.StepLog
	StepProgress = calls.StepProgress
	StepList     = calls.StepList
	StepStray    = calls.StepStray
	StepRetry    = calls.StepRetry
	StepResult   = calls.StepResult
	StepError    = calls.StepError
	StepStopped  = calls.StepStopped

	KindTool     = catalog.Tool
	KindPrompt   = catalog.Prompt
	KindResource = catalog.Resource
	KindTemplate = catalog.Template
	CatalogItems = catalog.MostItems
	CatalogBytes = catalog.MostBytes

	ChoiceNone       = client.ChoiceNone
	ChoiceExplicit   = client.ChoiceExplicit
	ChoiceRemembered = client.ChoiceRemembered

	DeclareBoth  = client.DeclareBoth
	DeclareForm  = client.DeclareForm
	DeclareURL   = client.DeclareURL
	DeclareEmpty = client.DeclareEmpty
	DeclareNone  = client.DeclareNone

	Revision20260728 = mcp.Revision20260728
	Revision20251125 = mcp.Revision20251125
	Revision20250618 = mcp.Revision20250618

	DefaultProbe = session.DefaultProbe
)

// See the packages of these.
var (
	Policies      = inbox.Policies
	ParsePolicy   = inbox.ParsePolicy
	Elicitations  = client.Elicitations
	ParseSettings = client.ParseSettings
	Expand        = catalog.Expand
	ReadResult    = response.ReadResult
	ReadError     = response.ReadError
)

// Revisions lists the protocol revisions that can be asked for, newest first.
func Revisions() []string { return mcp.Revisions }

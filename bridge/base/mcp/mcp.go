// Package mcp defines the names of the Model Context Protocol: methods, revisions and
// error codes.
package mcp

// The revisions with elicitation, oldest first. They are dates, so that they
// compare as strings.
const (
	Revision20250618 = "2025-06-18" // form mode
	Revision20251125 = "2025-11-25" // form and URL mode, error -32042
	Revision20260728 = "2026-07-28" // multi round-trip requests, no requests from the server
)

// Revisions lists the revisions that the inspector can speak, newest first.
var Revisions = []string{Revision20260728, Revision20251125, Revision20250618}

// HasRounds reports whether a server of a revision asks in input-required results, and never by requests of its own.
func HasRounds(revision string) bool { return revision >= Revision20260728 }

// Requests of the client.
const (
	MethodInitialize    = "initialize"      // up to 2025-11-25
	MethodDiscover      = "server/discover" // since 2026-07-28
	MethodListTools     = "tools/list"
	MethodCallTool      = "tools/call"
	MethodListPrompts   = "prompts/list"
	MethodGetPrompt     = "prompts/get"
	MethodListResources = "resources/list"
	MethodListTemplates = "resources/templates/list"
	MethodReadResource  = "resources/read"
	MethodComplete      = "completion/complete"
	MethodSetLevel      = "logging/setLevel"     // up to 2025-11-25
	MethodListen        = "subscriptions/listen" // since 2026-07-28
)

// Requests of the server up to 2025-11-25; since 2026-07-28 they travel as
// inputRequests in an InputRequiredResult. MethodPing goes either way.
const (
	MethodElicit    = "elicitation/create"
	MethodSample    = "sampling/createMessage"
	MethodListRoots = "roots/list"
	MethodPing      = "ping" // up to 2025-11-25
)

// Requests about a task, by the side that asked for the work. 2025-11-25 has them in both
// directions (Tasks); since 2026-07-28 the extension [TasksExtension] has them for clients.
const (
	MethodGetTask    = "tasks/get"
	MethodTaskResult = "tasks/result" // 2025-11-25 only
	MethodListTasks  = "tasks/list"   // 2025-11-25 only
	MethodUpdateTask = "tasks/update" // since 2026-07-28
	MethodCancelTask = "tasks/cancel"
)

// TasksExtension is the name of the tasks extension of 2026-07-28 in the capabilities.
const TasksExtension = "io.modelcontextprotocol/tasks"

// AppsExtension is the name of the extension of apps in the capabilities. Its member
// elicitation says that the client lets an app draw a question (draft SEP-3118).
const AppsExtension = "io.modelcontextprotocol/ui"

// MetaMock is the key in _meta in which a mock of ours says what it stands for: the recording of a
// result, or the URL of the recorded page.
const MetaMock = "elicitation-inspector/mock"

// RelatedTask is the key in _meta that names the task of a message (specification
// 2025-11-25, Tasks, Related Task Metadata).
const RelatedTask = "io.modelcontextprotocol/related-task"

// Keys in the _meta of requests since 2026-07-28.
const (
	MetaProtocol     = "io.modelcontextprotocol/protocolVersion"
	MetaClient       = "io.modelcontextprotocol/clientInfo"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogs         = "io.modelcontextprotocol/logLevel"
)

// Notifications.
const (
	NotificationTaskStatus       = "notifications/tasks/status"               // 2025-11-25 only
	NotificationTask             = "notifications/tasks"                      // since 2026-07-28
	NotificationListening        = "notifications/subscriptions/acknowledged" // since 2026-07-28
	NotificationInitialized      = "notifications/initialized"
	NotificationCancelled        = "notifications/cancelled"
	NotificationProgress         = "notifications/progress"
	NotificationMessage          = "notifications/message"
	NotificationElicitComplete   = "notifications/elicitation/complete" // 2025-11-25 only
	NotificationToolsChanged     = "notifications/tools/list_changed"
	NotificationPromptsChanged   = "notifications/prompts/list_changed"
	NotificationResourcesChanged = "notifications/resources/list_changed"
	NotificationResourceUpdated  = "notifications/resources/updated"
	NotificationRootsChanged     = "notifications/roots/list_changed"
)

// Error codes of JSON-RPC 2.0 and of MCP.
const (
	CodeParseError     = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternalError  = -32603

	// CodeServerError is the general code of the range that JSON-RPC reserves for
	// implementations, -32000 to -32099.
	CodeServerError            = -32000
	CodeResourceNotFound       = -32002 // up to 2025-11-25
	CodeHeaderMismatch         = -32020 // since 2026-07-28
	CodeMissingCapability      = -32021 // since 2026-07-28
	CodeUnsupportedVersion     = -32022 // since 2026-07-28
	CodeURLElicitationRequired = -32042 // 2025-11-25 only
)

// IsList reports whether the results of a method list what a server offers.
func IsList(method string) bool {
	return method == MethodListTools || method == MethodListPrompts || method == MethodListResources || method == MethodListTemplates
}

// IsTask reports whether requests of this method are about a task.
func IsTask(method string) bool {
	return method == MethodGetTask || method == MethodTaskResult || method == MethodListTasks || method == MethodUpdateTask || method == MethodCancelTask
}

// TellsTask reports whether notifications of this method carry the status of a task.
func TellsTask(method string) bool {
	return method == NotificationTaskStatus || method == NotificationTask
}

// AsksForInput reports whether requests of this method may be answered with an
// InputRequiredResult (2026-07-28, Multi Round-Trip Requests).
func AsksForInput(method string) bool {
	return method == MethodCallTool || method == MethodGetPrompt || method == MethodReadResource
}

// IsInput reports whether the method is a server's request for input from its client.
func IsInput(method string) bool {
	return method == MethodElicit || method == MethodSample || method == MethodListRoots
}

// RequestsAreGone is the reason why a server's request is not answered since 2026-07-28
// (specification, stdio, Receiving Messages; Streamable HTTP, Receiving Messages).
const RequestsAreGone = "since 2026-07-28 a server must not send requests, and a client must not send responses: nothing is answered; the server has to ask in an input-required result"

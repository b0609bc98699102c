package lint

import (
	"slices"
	"testing"
)

// TestRealServers lints questions of public servers. The expected findings are correct.
func TestRealServers(t *testing.T) {
	for _, tt := range []struct {
		name, revision, params string
		want                   []string
	}{
		{"the reference server's long form", nov, `{"message":"Please provide inputs for the following fields:","requestedSchema":{"type":"object","properties":{
			"name":{"title":"String","type":"string","description":"Your full, legal name"},
			"check":{"title":"Boolean","type":"boolean","description":"Agree to the terms and conditions"},
			"firstLine":{"title":"String with default","type":"string","description":"Favorite first line of a story","default":"It was a dark and stormy night."},
			"email":{"title":"String with email format","type":"string","format":"email","description":"Your email address (will be verified, and never shared with anyone else)"},
			"homepage":{"type":"string","format":"uri","title":"String with uri format","description":"Portfolio / personal website"},
			"birthdate":{"title":"String with date format","type":"string","format":"date","description":"Your date of birth"},
			"integer":{"title":"Integer","type":"integer","description":"Your favorite integer (do not give us your phone number, pin, or other sensitive info)","minimum":1,"maximum":100,"default":42},
			"number":{"title":"Number in range 1-1000","type":"number","description":"Favorite number (there are no wrong answers)","minimum":0,"maximum":1000,"default":3.14},
			"untitledSingleSelectEnum":{"type":"string","title":"Untitled Single Select Enum","description":"Choose your favorite friend","enum":["Monica","Rachel","Joey"],"default":"Monica"},
			"untitledMultipleSelectEnum":{"type":"array","title":"Untitled Multiple Select Enum","description":"Choose your favorite instruments","minItems":1,"maxItems":3,"items":{"type":"string","enum":["Guitar","Piano","Violin","Drums","Bass"]},"default":["Guitar"]},
			"titledSingleSelectEnum":{"type":"string","title":"Titled Single Select Enum","description":"Choose your favorite hero","oneOf":[{"const":"hero-1","title":"Superman"},{"const":"hero-2","title":"Green Lantern"}],"default":"hero-1"},
			"titledMultipleSelectEnum":{"type":"array","title":"Titled Multiple Select Enum","description":"Choose your favorite types of fish","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"fish-1","title":"Tuna"},{"const":"fish-2","title":"Salmon"},{"const":"fish-3","title":"Trout"}]},"default":["fish-1"]},
			"legacyTitledEnum":{"type":"string","title":"Legacy Titled Single Select Enum","description":"Choose your favorite type of pet","enum":["pet-1","pet-2"],"enumNames":["Cats","Dogs"],"default":"pet-1"}
			},"required":["name"]}}`,
			[]string{"too-many-fields@/requestedSchema/properties", "enum-names-deprecated@/requestedSchema/properties/legacyTitledEnum/enumNames"}},
		{"the reference server's link", nov, `{"mode":"url","url":"https://modelcontextprotocol.io","message":"Open this link to satisfy the prerequisite, then retry the request.","elicitationId":"b6f7a3f2-0000-4000-8000-000000000000"}`, nil},
		{"the TypeScript SDK's registration", nov, `{"mode":"form","message":"Please provide your registration information:","requestedSchema":{"type":"object","properties":{
			"username":{"type":"string","title":"Username","description":"Your desired username (3-20 characters)","minLength":3,"maxLength":20},
			"email":{"type":"string","title":"Email","description":"Your email address","format":"email"},
			"password":{"type":"string","title":"Password","description":"Your password (min 8 characters)","minLength":8},
			"newsletter":{"type":"boolean","title":"Newsletter","description":"Subscribe to newsletter?","default":false},
			"role":{"type":"string","title":"Role","description":"Your primary role","oneOf":[{"const":"developer","title":"Developer"},{"const":"other","title":"Other"}],"default":"developer"},
			"interests":{"type":"array","title":"Interests","description":"Select your areas of interest","items":{"type":"string","enum":["frontend","backend","mobile","devops","ai"]},"minItems":1,"maxItems":3}
			},"required":["username","email","password"]}}`,
			[]string{"secret-in-form@/requestedSchema/properties/password"}},
		{"the TypeScript SDK's address", nov, `{"mode":"form","message":"Please provide your shipping address:","requestedSchema":{"type":"object","properties":{
			"name":{"type":"string","title":"Full Name","description":"Recipient name","minLength":1},"state":{"type":"string","title":"State/Province","minLength":2,"maxLength":2},
			"zipCode":{"type":"string","title":"ZIP/Postal Code","description":"5-digit ZIP code"},"phone":{"type":"string","title":"Phone Number (optional)","description":"Contact phone number"}
			},"required":["name","state","zipCode"]}}`, nil},
		{"the TypeScript SDK's event", nov, `{"mode":"form","message":"Step 2: Enter date and time","requestedSchema":{"type":"object","properties":{
			"date":{"type":"string","title":"Date","description":"Event date","format":"date"},"startTime":{"type":"string","title":"Start Time","description":"Event start time (HH:MM)"},
			"duration":{"type":"integer","title":"Duration","description":"Duration in minutes","minimum":15,"maximum":480}},"required":["date","startTime","duration"]}}`, nil},
		{"the TypeScript SDK's preferences", nov, `{"mode":"form","message":"Please set your preferences","requestedSchema":{"type":"object","properties":{
			"theme":{"type":"string","title":"Theme","description":"Choose your preferred theme","enum":["light","dark","auto"],"enumNames":["Light","Dark","Auto"]},
			"notifications":{"type":"boolean","title":"Enable Notifications","description":"Would you like to receive notifications?","default":true}},"required":["theme"]}}`,
			[]string{"enum-names-deprecated@/requestedSchema/properties/theme/enumNames"}},
		{"the TypeScript SDK's key page", nov, `{"mode":"url","message":"Please provide your API key to authenticate with this server","url":"http://localhost:3000/api-key-form?session=1&elicitation=2","elicitationId":"2"}`, nil},
		{"the Go SDK's choices", nov, `{"message":"Test enum schemas","requestedSchema":{"type":"object","properties":{
			"untitledSingle":{"type":"string","enum":["option1","option2"]},
			"legacyEnum":{"type":"string","enum":["opt1","opt2"],"enumNames":["Option One","Option Two"]},
			"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","anyOf":[{"const":"value1","title":"First"},{"const":"value2","title":"Second"},{"const":"value3","title":"Third"}]}}}}}`,
			[]string{"enum-names-deprecated@/requestedSchema/properties/legacyEnum/enumNames", "items-type-stray@/requestedSchema/properties/titledMulti/items/type"}},
		{"the Go SDK's round", july, `{"message":"What is your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}`, nil},
		{"mcp-go's sign-in", nov, `{"mode":"url","elicitationId":"7","url":"https://myserver.example/set-api-key?elicitationId=7","message":"Please authenticate in your browser to continue."}`, nil},
		{"a schema that zod has written", nov, `{"message":"Book a table","requestedSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false,"properties":{
			"guests":{"type":"integer","exclusiveMinimum":0,"maximum":9007199254740991},"email":{"type":"string","format":"email","pattern":"^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$"}},"required":["guests"]}}`, nil},
		{"the specification's key page", july, `{"mode":"url","url":"https://mcp.example.com/ui/set_api_key","message":"Please provide your API key to continue."}`, nil},
		{"the specification's contact form", july, `{"mode":"form","message":"Please provide your contact information","requestedSchema":{"type":"object","properties":{
			"name":{"type":"string","description":"Your full name"},"email":{"type":"string","format":"email","description":"Your email address"},"age":{"type":"number","minimum":18,"description":"Your age"}},"required":["name","email"]}}`, nil},
	} {
		if got := found(Elicitation(in(tt.revision, tt.params))); !slices.Equal(got, tt.want) {
			t.Errorf("%s\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
}

func BenchmarkLint(b *testing.B) {
	input := in(nov, asking(`{"type":"string","title":"Sail number","pattern":"^[A-Z]{3}-[0-9]{1,5}$","minLength":5,"default":"NED-204"}`))
	for b.Loop() {
		if f := Elicitation(input); len(f) > 0 {
			b.Fatal(found(f))
		}
	}
}

package web

import (
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/demo"
	"elicitation-inspector/views"
)

// startView returns the data of the start panel, which the page shows before the first
// call.
func (s *Server) startView() views.Start {
	start := views.Start{MayAdd: s.config.Add != nil}
	for _, server := range s.in.Servers() {
		start.Servers = append(start.Servers, s.foundView(serverView(server)))
	}
	return start
}

// foundView returns what a server was found to offer.
func (s *Server) foundView(server views.Server) views.Found {
	found := views.Found{Server: server, Counts: map[views.Shelf]int{}}
	offers, err := s.in.Catalog(server.ID)
	if err != nil {
		return found
	}
	found.Loading = offers.Loading
	if len(offers.Errors) > 0 {
		found.Err = offers.Errors[0]
	}
	for _, item := range offers.Items {
		found.Counts[views.ShelfOf(item.Kind)]++
		if len(found.Asking) < views.AskingMost && item.MayAsk {
			found.Asking = append(found.Asking, itemView(server, item))
		}
	}
	if server.Name != demo.Name {
		return found
	}
	for _, story := range views.Stories {
		if item, err := s.in.Item(server.ID, conversation.Tool, story.Tool); err == nil {
			story.Item = itemView(server, item)
			found.Stories = append(found.Stories, story)
		}
	}
	return found
}

package main

import (
	"flag"
	"fmt"
	"strings"
	"sync"
)

var (
	manyTools = flag.Int("tools", 0, "offer `N` more tools, on pages of 10,000")
	hugeBytes = flag.Int("huge", 0, "offer a tool whose description, question and result have a text of `N` bytes each")
)

// more returns the tools that the flags add.
var more = sync.OnceValue(func() []tool {
	var all []tool
	if *hugeBytes > 0 {
		text := quote(strings.Repeat("All work and no play. ", *hugeBytes/22+1)[:*hugeBytes])
		all = append(all, tool{
			name:   "huge",
			listed: `{"name":"huge","description":` + text + `,"inputSchema":{"type":"object"}}`,
			run: func(s *server, c *call) {
				q := s.request("elicitation/create", `{"message":`+text+`,"requestedSchema":{"type":"object","properties":{"name":{"type":"string","title":"Name"}}}}`)
				select {
				case <-q.answer:
					s.reply(c.id, `{"content":[{"type":"text","text":`+text+`}]}`)
				case <-c.ended:
				}
			},
		})
	}
	for i := range *manyTools {
		all = append(all, tool{
			name:   fmt.Sprintf("tool_%d", i),
			listed: fmt.Sprintf(`{"name":"tool_%d","description":"Does job %d of %d.","inputSchema":{"type":"object"}}`, i, i+1, *manyTools),
			run:    echo,
		})
	}
	return all
})

package web

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/views"
)

func (s *Server) reconnect(c echo.Context) error {
	if err := s.in.Reconnect(c.Param("id")); err != nil {
		return err
	}
	return s.serversReply(c)
}

// disconnectTime bounds how long the page waits for a server's orderly end.
const disconnectTime = 20 * time.Second

func (s *Server) disconnect(c echo.Context) error {
	// The end goes on even if the page does not wait for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), disconnectTime)
	defer cancel()
	if err := s.in.Disconnect(ctx, c.Param("id")); err != nil {
		return err
	}
	return s.serversReply(c)
}

func (s *Server) serversReply(c echo.Context) error {
	all, _ := s.serverViews()
	return replaced(c, http.StatusOK, "servers", views.ServersBar(all))
}

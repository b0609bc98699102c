package main

import (
	"log/slog"
	"os"
	"os/exec"
	"runtime"
)

// openBrowser asks the system to open an address. It is a convenience: where it
// cannot be done, the printed address is enough.
func openBrowser(address string, logger *slog.Logger) {
	if !canOpen(runtime.GOOS, os.Getenv) {
		return
	}
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.Command("open", address)
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", address)
	default:
		cmd = exec.Command("xdg-open", address)
	}
	if err := cmd.Start(); err != nil {
		logger.Debug("opening the browser", "error", err)
		return
	}
	go func() {
		if err := cmd.Wait(); err != nil {
			logger.Debug("opening the browser", "error", err)
		}
	}()
}

// canOpen reports whether there is a person in front of a screen.
func canOpen(system string, env func(string) string) bool {
	if env("CI") != "" {
		return false
	}
	if system == "darwin" || system == "windows" {
		return env("SSH_CONNECTION") == ""
	}
	return env("DISPLAY") != "" || env("WAYLAND_DISPLAY") != ""
}

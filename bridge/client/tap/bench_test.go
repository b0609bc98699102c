package tap_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"elicitation-inspector/bridge/client/tap"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/client/transport"
)

// answers is a server that decodes each request and answers it, as servers do: it writes
// when nothing more is there to read.
func answers() {
	in, out := bufio.NewReaderSize(os.Stdin, 64<<10), bufio.NewWriterSize(os.Stdout, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Params map[string]any
		}
		if err := json.Unmarshal(line, &m); err != nil {
			panic(err)
		}
		result, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": m.Params})
		if err != nil {
			panic(err)
		}
		_, _ = out.Write(append(result, '\n'))
		if in.Buffered() == 0 {
			_ = out.Flush()
		}
	}
}

// tapped is a tap before the server of the next mode.
func tapped() {
	o, err := tap.NewObserver(tap.Config{Name: "files", Dir: os.TempDir()})
	if err != nil {
		panic(err)
	}
	exe, _ := os.Executable()
	child, err := transport.StartChild(target.Spec{Command: []string{exe}, Env: []string{serverMode + "=" + os.Getenv("TAP_TEST_BEHIND")}})
	if err != nil {
		panic(err)
	}
	tap.Relay(child, os.Stdin, os.Stdout, os.Stderr, o)
}

// BenchmarkRelay compares a client and a server with a tap between them to the same pair on a
// bare pipe. It measures the messages per second if the client does not wait for responses,
// and the median round trip if it does. The metric ratio is the throughput with the tap
// divided by that without, and added-ms is the difference of the round trips. In the
// benchmark "paced" the client sends 20,000 messages a second, one batch a millisecond.
func BenchmarkRelay(b *testing.B) {
	const messages, trips, paced, batch = 100_000, 5000, 40_000, 20
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for _, behind := range []string{"echo", "answers"} {
		measure := func(mode string) (perSecond float64, median time.Duration, pacedPerSecond float64, pacedMedian time.Duration) {
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), serverMode+"="+mode, "TAP_TEST_BEHIND="+behind)
			cmd.Stderr = os.Stderr
			in, err := cmd.StdinPipe()
			if err != nil {
				b.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				b.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			next := func() {
				if !lines.Scan() {
					b.Fatal("the server has ended: ", lines.Err())
				}
			}
			send := func(w io.Writer, n int) {
				if _, err := fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}`+"\n", n); err != nil {
					b.Error(err)
				}
			}
			send(in, 0)
			next()
			times := make([]time.Duration, trips)
			for i := range times {
				begin := time.Now()
				send(in, i)
				next()
				times[i] = time.Since(begin)
			}
			sent := make(chan time.Time, paced/batch)
			begin := time.Now()
			go func() {
				w, tick := bufio.NewWriterSize(in, 64<<10), time.NewTicker(time.Millisecond)
				defer tick.Stop()
				for n := 0; n < paced; n += batch {
					<-tick.C
					sent <- time.Now()
					for range batch {
						send(w, n)
					}
					_ = w.Flush()
				}
			}()
			waits := make([]time.Duration, paced/batch)
			for i := range waits {
				at := <-sent
				for range batch {
					next()
				}
				waits[i] = time.Since(at)
			}
			pacedPerSecond = paced / time.Since(begin).Seconds()
			begin = time.Now()
			go func() {
				w := bufio.NewWriterSize(in, 4<<10)
				for i := range messages {
					send(w, i)
				}
				_ = w.Flush()
				_ = in.Close()
			}()
			for range messages {
				next()
			}
			perSecond = messages / time.Since(begin).Seconds()
			_ = cmd.Wait()
			slices.Sort(times)
			slices.Sort(waits)
			return perSecond, times[trips/2], pacedPerSecond, waits[len(waits)/2]
		}
		b.Run(behind, func(b *testing.B) {
			var ratios, added, pacedRatios, pacedAdded []float64
			var bare, with, pacedWith float64
			for b.Loop() {
				var bareTrip, trip, bareWait, wait time.Duration
				var pacedBare float64
				bare, bareTrip, pacedBare, bareWait = measure(behind)
				with, trip, pacedWith, wait = measure("tap")
				ratios = append(ratios, with/bare)
				added = append(added, float64(trip-bareTrip)/float64(time.Millisecond))
				pacedRatios = append(pacedRatios, pacedWith/pacedBare)
				pacedAdded = append(pacedAdded, float64(wait-bareWait)/float64(time.Millisecond))
			}
			b.ReportMetric(bare, "bare/s")
			b.ReportMetric(with, "tapped/s")
			b.ReportMetric(pacedWith, "paced/s")
			for name, of := range map[string][]float64{"ratio": ratios, "added-ms": added, "paced-ratio": pacedRatios, "paced-added-ms": pacedAdded} {
				slices.Sort(of)
				b.ReportMetric(of[len(of)/2], name)
			}
		})
	}
}

package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"sync"

	"stepback/cmd/stepback/buildinfo"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/local"
)

// errand is a request to run a verb in the process that has the verb's data directory open. It carries those
// properties of the client's streams that the process needs.
type errand struct {
	Version  string          `json:"version"`
	Verb     string          `json:"verb"`
	Flags    json.RawMessage `json:"flags"`
	Terminal bool            `json:"terminal"`
	Colour   bool            `json:"colour"`
	Width    int             `json:"width"`

	OutWidth  int  `json:"outWidth"`
	ErrColour bool `json:"errColour"`
}

// frame is a piece of a verb's output, or marks its end. A response is a sequence of frames, one JSON text per
// line.
type frame struct {
	Out []byte `json:"out,omitempty"`
	Err []byte `json:"err,omitempty"`
	// Done marks the end of the response, with an exit code and a message that has not been printed yet.
	Done    bool   `json:"done,omitempty"`
	Code    int    `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// ask sends a verb to another process, and copies the verb's output to std. If the context ends, the other process
// stops the verb, too.
func ask(ctx context.Context, std terminal.Streams, dir string, server *local.Server, v DirectoryVerb) error {
	if server.Version != buildinfo.Version() {
		return fmt.Errorf("the data directory %s is in use by process %d, which is stepback %s and not %s; end it first",
			dir, server.PID, server.Version, buildinfo.Version())
	}
	name := nameOf(v)
	flags, err := json.Marshal(v)
	if err != nil {
		return err
	}
	body, err := json.Marshal(errand{buildinfo.Version(), name, flags, std.Terminal, std.Colour, std.Width,
		std.OutWidth,
		std.ErrColour})
	if err != nil {
		return err
	}
	answer, err := server.Ask(ctx, bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		return fmt.Errorf("process %d, which serves %s: %s", server.PID, dir, bytes.TrimSpace(why))
	}
	return replay(ctx, std, server, json.NewDecoder(answer.Body))
}

// replay writes out the frames of a response.
func replay(ctx context.Context, std terminal.Streams, server *local.Server, frames *json.Decoder) error {
	for {
		var f frame
		if err := frames.Decode(&f); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("process %d ended before it responded: %w", server.PID, err)
		}
		if f.Done {
			if f.Code == exit.OK {
				return nil
			}
			var message error
			if f.Message != "" {
				message = errors.New(f.Message)
			}
			return exit.With(f.Code, message)
		}
		if _, err := std.Out.Write(f.Out); err != nil {
			return err
		}
		if _, err := std.Err.Write(f.Err); err != nil {
			return err
		}
	}
}

// nameOf returns a verb's name in requests.
func nameOf(v DirectoryVerb) string {
	for name, fresh := range verbs {
		if reflect.TypeOf(fresh()) == reflect.TypeOf(v) {
			return name
		}
	}
	panic(fmt.Sprintf("%T cannot be sent to the serving process", v)) // TestDirectoryVerbsTravel checks that all do
}

// Errands runs verbs for other processes.
type Errands struct{ underWay sync.WaitGroup }

// Wait waits for the running verbs, unless the context ends first.
func (e *Errands) Wait(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.underWay.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done(): // closing the platform ends the verbs
	}
}

// Serve runs one verb. It implements local.Config.Control.
func (e *Errands) Serve(p *local.Platform, w http.ResponseWriter, r *http.Request) {
	e.underWay.Add(1)
	defer e.underWay.Done()
	var asked errand
	const maxErrand = 1 << 20
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxErrand)).Decode(&asked); err != nil {
		http.Error(w, "The request cannot be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	fresh := verbs[asked.Verb]
	if fresh == nil || asked.Version != buildinfo.Version() {
		http.Error(w, "The serving process is another version of stepback: "+buildinfo.Version(), http.StatusBadRequest)
		return
	}
	v := fresh()
	if err := json.Unmarshal(asked.Flags, v); err != nil {
		http.Error(w, "The flags cannot be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	out := &framed{w: w}
	std := terminal.Streams{
		Err: part(func(b []byte) frame { return frame{Err: b} }, out), Terminal: asked.Terminal, Colour: asked.Colour,
		Width: asked.Width, OutWidth: asked.OutWidth, ErrColour: asked.ErrColour,
	}
	std.Out = terminal.ShownOn(part(func(b []byte) frame { return frame{Out: b} }, out), std.OutScreen())
	_ = out.send(ended(v.On(r.Context(), std, p))) // the client disconnected
}

// ended returns the final frame of a verb: the exit code, and the message that is still to be printed.
func ended(err error) frame {
	var message bytes.Buffer
	f := frame{Done: true, Code: terminal.Report(terminal.Streams{Err: &message}, err)}
	const prefix = "stepback: "
	f.Message = string(bytes.TrimSpace(bytes.TrimPrefix(message.Bytes(), []byte(prefix))))
	return f
}

// framed writes frames as they arrive.
type framed struct {
	mu sync.Mutex
	w  http.ResponseWriter
}

func (f *framed) send(one frame) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := json.NewEncoder(f.w).Encode(one); err != nil {
		return err
	}
	return http.NewResponseController(f.w).Flush()
}

// part returns a writer that sends its text as frames.
func part(wrap func([]byte) frame, to *framed) io.Writer { return stream{wrap, to} }

type stream struct {
	wrap func([]byte) frame
	to   *framed
}

// Write implements io.Writer.
func (s stream) Write(b []byte) (int, error) {
	if err := s.to.send(s.wrap(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

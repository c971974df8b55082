package runner_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"testing"
	"time"

	awslambda "github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// TestMain lets the test binary act as a bootstrap, too: as a child of the process runner it runs the handler that
// HANDLER names.
func TestMain(m *testing.M) {
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") != "" {
		bootstrap(os.Getenv("HANDLER"))
	}
	os.Exit(m.Run())
}

func bootstrap(name string) {
	switch name {
	case "init-exit":
		os.Exit(3)
	case "init-hang":
		never := make(chan os.Signal, 1)
		signal.Notify(never, os.Interrupt)
		<-never // until it is killed
	case "init-error":
		reportInitError()
	}
	handler, ok := handlers[name]
	if !ok {
		handler = processHandlers[name]
	}
	awslambda.Start(handler)
}

type myError struct{ text string }

func (e *myError) Error() string { return e.text }

type rawHandler string

func (h rawHandler) Invoke(context.Context, []byte) ([]byte, error) { return []byte(h), nil }

// handlers behave the same way in both runners.
var handlers = map[string]any{
	"echo":    func(event any) (any, error) { return event, nil },
	"nothing": func() {},
	"plain":   func() error { return errors.New("plain") },
	"wrapped": func() error { return fmt.Errorf("outer: %w", &myError{"inner"}) },
	"own":     func() error { return &myError{"mine <&>"} },
	"named": func() error {
		return messages.InvokeResponse_Error{Type: "DatabaseConnectionError", Message: "connection refused"}
	},
	"panic": func() error { panic("at the disco") },
	"bounds": func(event []int) (int, error) {
		return event[len(event)], nil //nolint:gocritic // out of range on purpose
	},
	"context": func(ctx context.Context) (any, error) {
		lc, _ := lambdacontext.FromContext(ctx)
		deadline, ok := ctx.Deadline()
		left := time.Until(deadline)
		return map[string]any{"id": lc.AwsRequestID != "", "arn": lc.InvokedFunctionArn, "deadline": ok && left > 0 &&
			left <= 30*time.Second+time.Millisecond}, nil
	},
	"waits":    func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	"big":      func() (string, error) { return strings.Repeat("x", 6<<20+100), nil },
	"not-json": rawHandler("{oops"),
}

// processHandlers do what only a separate process can do.
var processHandlers = map[string]any{
	"greedy": func(ctx context.Context) (int, error) {
		held := make([]byte, 300<<20)
		for i := 0; i < len(held); i += 4096 {
			held[i] = 1
		}
		<-ctx.Done()
		return len(held), ctx.Err()
	},
	"exit":      func() { os.Exit(1) },
	"exit-zero": func() { os.Exit(0) },
	"kill": func() error {
		p, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		return p.Kill()
	},
	"hang": func() { select {} },
	// Responds with the body of another response, while it arrives.
	"relay": func(ctx context.Context, address string) (io.Reader, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, err
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			return nil, err
		}
		return a.Body, nil // awslambda.Start closes it
	},
	"pid": func() (int, error) { return os.Getpid(), nil },
	"environ": func() (map[string]string, error) {
		vars := map[string]string{}
		for _, name := range []string{"AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_VERSION",
			"AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_REGION", "OWN", "HOME"} {
			vars[name] = os.Getenv(name)
		}
		return vars, nil
	},
	"talk": func() { fmt.Println("hello from stdout"); fmt.Fprintln(os.Stderr, "hello from stderr") },
}

func lines(text string) (all []string) {
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		all = append(all, s.Text())
	}
	return all
}

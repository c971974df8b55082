// Package sharedguard creates the guard of a Lambda function from its environment variables: a breaker and a limiter
// per callee, which all environments of all functions share through a DynamoDB table, and the controller's data on
// retries that are not worth their cost. It prints the metrics CircuitBreakerState and, if a table cannot be reached,
// SharedStateUnavailable (package circuitlog).
//
// Without a table there is no guard, and nothing is refused.
package sharedguard

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"stepback/adaptive/breaker"
	"stepback/adaptive/configuration"
	"stepback/adaptive/configuration/dynamosource"
	"stepback/adaptive/predict/s3model"
	"stepback/adaptive/shared"
	"stepback/adaptive/shared/dynamostore"
	"stepback/aws/objects/sdkobjects"
	"stepback/csvimport/circuitlog"
	"stepback/csvimport/handlers"
)

// Callee describes what a function calls, and the labels of its metrics.
type Callee struct {
	// Name is the callee's name; functions with the same name share its breaker.
	Name string
	// Machine and State are the labels of the metrics.
	Machine, State string
	// Calls is the number of concurrent calls allowed while the callee is healthy, if that is more than the limiter's
	// initial limit; 0 means unknown.
	Calls int
}

// FromEnvironment returns the guard of a function for a callee, or nil if neither BREAKER_TABLE nor CONFIGURATION_TABLE
// is set. The first is a table of package dynamostore. The second is the table retry_configurations, which holds the
// functions' configuration under the state machine's name, STATE_MACHINE. MODEL_OBJECT is the object, as
// s3://BUCKET/KEY, with the model of retry success that CONFIGURATION_TABLE's numbers are combined with; without it,
// the chances are the measured rates. If STATE_MACHINE is set, metrics are printed to out. CALLS_AT_A_TIME is the
// number of calls that the state machine makes concurrently. BREAKER selects the breaker's thresholds: standard (the
// default, [shared.Callee]) or source, those of the source design ([breaker.Conservative]); all functions of a callee
// must use the same.
func FromEnvironment(ctx context.Context, env func(string) string, callee, state string, out io.Writer,
	log *slog.Logger) (*handlers.Guard, error) {
	breakers, configurations := env("BREAKER_TABLE"), env("CONFIGURATION_TABLE")
	if breakers == "" && configurations == "" {
		return nil, nil
	}
	if configurations != "" && env("STATE_MACHINE") == "" {
		return nil, fmt.Errorf("CONFIGURATION_TABLE is %q, and STATE_MACHINE is not set; set it to the state machine's name",
			configurations)
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("the AWS configuration: %w", err)
	}
	calls, err := callsAtATime(env("CALLS_AT_A_TIME"))
	if err != nil {
		return nil, err
	}
	// The client makes one attempt. If that fails, the guard lets the call pass, and asks again a little later.
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	c := Callee{Name: callee, Machine: env("STATE_MACHINE"), State: state, Calls: calls}
	policies, err := policiesOf(env("BREAKER"))
	if err != nil {
		return nil, err
	}
	p := &circuitlog.Printer{Callee: c.Name, Machine: c.Machine, State: c.State, Out: out, Log: log, Now: time.Now}
	guard := &handlers.Guard{}
	if breakers != "" {
		if guard, err = over(&dynamostore.Store{Client: client, Table: breakers}, policies, c, p,
			time.Now); err != nil {
			return nil, err
		}
	}
	if configurations != "" {
		reader := &configuration.Reader{
			Source: dynamosource.Source{Client: client, Table: configurations}, Machine: c.Machine,
			Unavailable: p.Unavailable,
		}
		if reader.Models, err = modelFrom(ctx, env("MODEL_OBJECT"), log); err != nil {
			return nil, err
		}
		guard.Worth = reader
	}
	return guard, nil
}

// modelFrom returns the reader of the model at an address; nil if the address is empty.
func modelFrom(ctx context.Context, address string, log *slog.Logger) (configuration.Models, error) {
	if address == "" {
		return nil, nil
	}
	at, err := s3model.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("MODEL_OBJECT: %w", err)
	}
	client, err := sdkobjects.ClientFromEnvironment(ctx)
	if err != nil {
		return nil, err
	}
	return &s3model.Reader{Client: client, At: at, Unavailable: func(err error) {
		log.Warn("the model of retry success cannot be read; the measured rates are used", "error", err.Error())
	}}, nil
}

// policiesOf returns the policies that BREAKER selects.
func policiesOf(text string) (shared.Policies, error) {
	policies := shared.Callee()
	switch text {
	case "", "standard":
		return policies, nil
	case "source":
		policies.Breaker = breaker.Conservative()
		return policies, nil
	}
	return policies, fmt.Errorf("BREAKER is %q; set it to standard or source, or leave it unset", text)
}

func callsAtATime(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("CALLS_AT_A_TIME is %q: write how many calls are made at a time, as a whole number", text)
	}
	return n, nil
}

// New returns a guard over any store.
func New(store shared.Store, c Callee, out io.Writer, log *slog.Logger, now func() time.Time) (*handlers.Guard, error) {
	return over(store, shared.Callee(), c, &circuitlog.Printer{Callee: c.Name, Machine: c.Machine, State: c.State,
		Out: out, Log: log,
		Now: now}, now)
}

func over(store shared.Store, policies shared.Policies, c Callee, p *circuitlog.Printer, now func() time.Time,
) (*handlers.Guard, error) {
	policies.Limiter.Initial = min(max(policies.Limiter.Initial, float64(c.Calls)), policies.Limiter.Max)
	gate, err := shared.NewGate(store, c.Name, policies, shared.Config{
		Now: now, Read: p.Circuit, Unavailable: p.Unavailable,
	})
	if err != nil {
		return nil, err
	}
	return &handlers.Guard{Gate: gate, Now: now}, nil
}

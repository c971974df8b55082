// Command train is the Lambda function that a schedule invokes once a day. It reads the histories of the last week,
// trains the model of retry success (package predict) and stores it as an object, with its Brier score on held-out
// retries and that of the base rate. Functions use the model only if it predicts better than the base rate; the
// response, the log and the metrics RetryModelBrier, BaseRateBrier and RetryModelUsed report it.
//
// If the histories contain too few retries, or all ended alike, the object stays as it is, and is used until it is
// three days old.
//
// Environment: STATE_MACHINE_ARN; MODEL_OBJECT, the object as s3://BUCKET/KEY.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/adaptive/analysis"
	"stepback/adaptive/controller"
	"stepback/adaptive/predict"
	"stepback/adaptive/predict/s3model"
	"stepback/aws/objects/sdkobjects"
	"stepback/csvimport/handlers"
	"stepback/retrymetrics"
)

const (
	// period is the age of the oldest executions whose histories are read.
	period = 7 * 24 * time.Hour
	// mostHistories bounds the histories of an invocation, the newest first. Step Functions returns 20 a second after a
	// burst of 400, so they take three minutes of the function's fifteen.
	mostHistories = 4000
	// attempts is the number of attempts of a request to Step Functions, which throttles the reading.
	attempts = 10
	// seed makes the same histories give the same model.
	seed = 42
)

func main() {
	log := handlers.Log()
	t, err := configured(context.Background(), os.Getenv)
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	t.log, t.out, t.now = log, os.Stdout, time.Now
	lambda.Start(t.train)
}

// configured returns the trainer that the environment describes.
func configured(ctx context.Context, env func(string) string) (*trainer, error) {
	machine := env("STATE_MACHINE_ARN")
	if machine == "" {
		return nil, errors.New("STATE_MACHINE_ARN is not set; set it to the state machine's ARN")
	}
	at, err := s3model.Parse(env("MODEL_OBJECT"))
	if err != nil {
		return nil, fmt.Errorf("MODEL_OBJECT: %w", err)
	}
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRetryMode(aws.RetryModeAdaptive),
		config.WithRetryMaxAttempts(attempts))
	if err != nil {
		return nil, err
	}
	objects, err := sdkobjects.ClientFromEnvironment(ctx)
	if err != nil {
		return nil, err
	}
	return &trainer{machine: machine, at: at, objects: objects,
		histories: controller.HistoriesOf{Client: sfn.NewFromConfig(cfg), Most: mostHistories}}, nil
}

type trainer struct {
	machine   string
	at        s3model.Location
	objects   s3model.Putter
	histories controller.Histories
	now       func() time.Time
	log       *slog.Logger
	out       io.Writer // takes metrics
}

// answer reports a training. Without a model, Note says why there is none.
type answer struct {
	Retries  int          `json:"retries"`
	Model    predict.Kind `json:"model,omitempty"`
	Brier    float64      `json:"brier,omitempty"`
	BaseRate float64      `json:"baseRateBrier,omitempty"`
	// Used is true if the model predicts better than the base rate, so that functions use it.
	Used bool   `json:"used"`
	Note string `json:"note"`
}

// train trains and stores a model.
func (t *trainer) train(ctx context.Context) (answer, error) {
	var c analysis.Collector
	if err := t.histories.Collect(ctx, t.machine, t.now().Add(-period), &c); err != nil {
		return answer{}, err
	}
	examples := c.Examples()
	a := answer{Retries: len(examples)}
	m, err := predict.Train(examples, seed)
	var little *predict.TooLittleError
	if errors.As(err, &little) {
		a.Note = "no model was trained: " + little.Reason
		t.log.InfoContext(ctx, a.Note, "retries", a.Retries)
		return a, nil
	}
	if err != nil {
		return a, err
	}
	if err := s3model.Save(ctx, t.objects, t.at, m); err != nil {
		return a, err
	}
	a.Model, a.Brier, a.BaseRate, a.Used = m.Kind, m.Brier, m.BaseRateBrier(), m.BeatsBaseRate()
	a.Note = "no model predicts better than the base rate: functions use the measured rates"
	if a.Used {
		a.Note = "the model predicts better than the base rate: functions use it for rows that have a value"
	}
	t.log.InfoContext(ctx, a.Note, "model", string(a.Model), "brier", a.Brier, "baseRateBrier", a.BaseRate,
		"retries", a.Retries, "from", m.From, "to", m.To, "hash", m.Hash)
	return a, t.publish(m)
}

// publish prints the model's scores as metrics.
func (t *trainer) publish(m *predict.Model) error {
	used := 0.0
	if m.BeatsBaseRate() {
		used = 1
	}
	point := func(metric *retrymetrics.Metric, value float64) retrymetrics.Point {
		return retrymetrics.Point{Metric: metric,
			Labels: retrymetrics.Labels{StateMachine: t.machine[strings.LastIndexByte(t.machine, ':')+1:]},
			Start:  t.now().UTC().Truncate(time.Minute), Values: []float64{value}, Counts: []int64{1}}
	}
	lines, err := retrymetrics.AppendEMF(nil, []retrymetrics.Point{
		point(retrymetrics.RetryModelBrier, m.Brier), point(retrymetrics.BaseRateBrier, m.BaseRateBrier()),
		point(retrymetrics.RetryModelUsed, used),
	})
	if err == nil {
		_, err = t.out.Write(lines)
	}
	return err
}

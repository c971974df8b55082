package pipeline

import (
	"context"

	"stepback/engine"
	"stepback/engine/itemreader"
	"stepback/engine/itemreader/parquetrows"
	"stepback/engine/resultwriter"
	"stepback/engine/s3objects"
	"stepback/retrypatterns"
	topics "stepback/services/sns"
	"stepback/statemachine"
	"stepback/tasks/lambda"
	"stepback/tasks/sns"
)

// openEngine starts the engine, creates the state machine, and goes on with executions whose process died.
func (p *Pipeline) openEngine(ctx context.Context) error {
	if err := resultwriter.RemoveSpools(p.cfg.Dir); err != nil { // the journal is locked: nobody else is here
		return err
	}
	e, err := engine.New(engine.Config{
		Clock: p.clock, Patience: p.cfg.Patience, Journal: p.journal, Region: region, Account: account, Log: p.cfg.Log,
		Observe: p.observe, Recovered: p.recovered,
		Objects: s3objects.New(p.client), TempDir: p.cfg.Dir,
		Formats: itemreader.Formats{"PARQUET": itemreader.FormatOf(parquetrows.Open)},
		Integrations: map[string]engine.Integration{
			"lambda:invoke": lambda.Integration{Invoker: p.compute},
			"function":      lambda.Function{Invoker: p.compute},
			"sns:publish":   sns.Integration{Publisher: publisher{p.topics}},
		},
	})
	if err != nil {
		return err
	}
	p.engine = e
	p.onClose(func() error { e.Close(); return nil })
	definition, err := p.definition()
	if err != nil {
		return err
	}
	if p.machine, err = e.CreateStateMachine(machineName, definition, "arn:aws:iam::"+account+":role/"+machineName,
		false); err != nil {
		return err
	}
	_, err = e.Recover(ctx)
	return err
}

func (p *Pipeline) definition() (string, error) {
	o := statemachine.DefaultOptions()
	o.ValidateFunction, o.ProcessFunction, o.AggregateFunction = validateFunction, processFunction, aggregateFunction
	o.ResultBucket, o.TopicARN = resultBucket, p.topic
	o.Concurrency, o.BatchSize, o.BatchConcurrency = p.cfg.Concurrency, p.cfg.Batch, batchConcurrency
	o.ToleratedFailurePercentage = *p.cfg.ToleratedFailurePercentage
	text, err := statemachine.Definition(retrypatterns.DefaultTable(), o)
	return string(text), err
}

// publisher hands the engine's messages to the embedded SNS.
type publisher struct{ topics *topics.Topics }

func (p publisher) Publish(ctx context.Context, m sns.Message) (string, error) {
	return p.topics.Publish(ctx, topics.PublishInput{TopicARN: m.TopicARN, Subject: m.Subject, Message: m.Body})
}

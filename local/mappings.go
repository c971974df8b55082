package local

import (
	"context"

	"stepback/aws"
	"stepback/local/services/iam/access"
	"stepback/local/services/iam/policy"
	"stepback/local/services/lambda/eventsource"
)

// openMappings opens the event source mappings of functions, which start once everything else is open (resume).
func (p *Platform) openMappings(context.Context) (err error) {
	o := eventsource.Options{Store: p.Documents, Clock: p.Clock, Queues: p.Queues,
		Streams: p.Tables, Functions: p.Functions, Deliver: p.Targets.Deliver, Log: p.cfg.Log}
	if p.cfg.EnforceIAM { // nothing is read or created before the guard exists
		o.MayRead = func(ctx context.Context, function, source string) error {
			return p.around.guard.authorizeRead(ctx, function, source)
		}
	}
	p.mappings, err = eventsource.Open(o)
	return err
}

// authorizeRead refuses an event source mapping if the function's role lacks the permissions it needs on the source.
func (g *guard) authorizeRead(ctx context.Context, function, source string) error {
	role := g.roleOf(ctx, function)
	if role == "" {
		return nil // the function no longer exists
	}
	model, actions := "sqs", []string{"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}
	if from, _ := aws.ParseARN(source); from.Service == "dynamodb" {
		model, actions = "dynamodbstreams", []string{"dynamodb:DescribeStream", "dynamodb:GetShardIterator", "dynamodb:GetRecords"}
	}
	needs := make([]access.Need, len(actions))
	for i, action := range actions {
		needs[i] = access.Need{Action: action, Resource: source}
	}
	return g.authorizeRole(ctx, role, sessionOf("lambda.amazonaws.com"), model, needs, policy.Context{})
}

package csvimportstack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"stepback/cdk/environment"
)

// relayTimeout limits an invocation, so that it ends before the next one begins, a minute later; it sends until shortly
// before this timeout.
const relayTimeout = 55 * time.Second

// relayFunction is the name of the relay's function and of its bootstrap's folder.
const relayFunction = "relay"

// addRelay declares the relay of the database's outbox, if the environment has one.
func (s *Stack) addRelay(bootstraps string, db database) {
	service := s.Environment.Relay.Service()
	if !s.hasRelay() {
		return
	}
	to := jsii.String(s.Environment.Relay.To)
	if *to == environment.RelayToImports {
		to = s.Imports.TopicArn()
	}
	sends := map[string][]string{
		"sns": {"sns:Publish"}, "sqs": {"sqs:GetQueueUrl", "sqs:SendMessage"}, "events": {"events:PutEvents"},
	}
	f := s.function(bootstraps, function{
		id: "Relay", name: relayFunction, description: "Sends the messages in the database's outbox",
		memory: environment.RelayMemory, timeout: relayTimeout,
		environment: map[string]*string{"DATABASE_URL": db.url, "SINK": to},
		access:      []awsiam.PolicyStatement{db.access, allow(sends[service], to)}, vpc: db.vpc,
	})
	for _, r := range db.dependencies {
		f.Node().AddDependency(r)
	}
	s.invokeEvery(f, "RelaySchedule", "relay", "Invokes the outbox relay")
}

func (s *Stack) hasRelay() bool { return s.Environment.Relay.Service() != "" }

package csvimportstack

import (
	"time"

	"github.com/aws/jsii-runtime-go"

	"stepback/cdk/environment"
)

// trainFunction names both the function that trains the model of retry success and the folder of its bootstrap.
const trainFunction = "train"

// modelKey is the key of the model in the result bucket.
const modelKey = "models/retries.json"

// addTrain declares the function that trains the model of retry success from the histories of the last week, if the
// environment has a controller. Functions use the model if rows have a value.
func (s *Stack) addTrain(bootstraps string) {
	if !s.hasAdapt() {
		return
	}
	name := s.Environment.Prefix()
	f := s.function(bootstraps, function{
		id: "Train", name: trainFunction, description: "Trains the model of retry success from the histories of the last week",
		memory: environment.TrainMemory, timeout: 15 * time.Minute,
		environment: map[string]*string{
			"STATE_MACHINE_ARN": s.StateMachine.StateMachineArn(), "MODEL_OBJECT": s.modelObject(),
		},
		access: append(s.historiesAccess(),
			allow([]string{"states:ListExecutions"}, s.StateMachine.StateMachineArn()),
			allow([]string{"states:ListMapRuns"}, s.states("execution", name+":*")),
			allow([]string{"s3:PutObject"}, s.ResultBucket.ArnForObjects(jsii.String(modelKey)))),
	})
	s.invokeEvery(f, "TrainSchedule", "train", "Invokes the function that trains the model of retry success")
}

// modelObject returns the address of the model.
func (s *Stack) modelObject() *string {
	return jsii.String("s3://" + *s.ResultBucket.BucketName() + "/" + modelKey)
}

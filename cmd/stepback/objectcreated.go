package main

import (
	"encoding/json"

	"stepback/aws"
	"stepback/objectevent"
	"stepback/services/lambda/runner"
)

// objectCreated hands the events of new objects to the functions that are to hear of them, which are tried again as
// Lambda tries events again. Nil when there are none.
func (s *services) objectCreated(scope aws.Scope) func(objectevent.Event) {
	if len(s.starters) == 0 {
		return nil
	}
	return func(e objectevent.Event) {
		bucket, key := e.Detail.Bucket.Name, e.Detail.Object.Key
		function, ok := s.starters[bucket]
		if !ok {
			return
		}
		payload, err := json.Marshal(e)
		if err == nil {
			_, err = s.functions.InvokeEvent(aws.Scope{Account: scope.Account, Region: scope.Region},
				runner.InvokeInput{FunctionName: function, Payload: payload})
		}
		if err != nil {
			s.log.Error("no function has heard of a new object", "bucket", bucket, "key", key, "function", function,
				"error", err.Error())
		}
	}
}

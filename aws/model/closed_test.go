package model_test

import (
	"errors"
	"testing"

	"stepback/aws/model"
)

func TestClosedServices(t *testing.T) {
	t.Parallel()
	for action, want := range map[[2]string]string{
		{"qldb", "createLedger"}:     "AWS has closed Amazon QLDB (qldb); a call of it fails",
		{"pinpoint", "sendMessages"}: "AWS has closed Amazon Pinpoint (pinpoint); a call of it fails",
	} {
		var closed *model.ClosedServiceError
		if err := model.CheckAction(action[0], action[1]); !errors.As(err, &closed) || err.Error() != want {
			t.Errorf("%v: %v", action, err)
		}
	}
	var unknown *model.UnknownOperationError
	if err := model.CheckAction("pinpoint", "sendMail"); !errors.As(err, &unknown) {
		t.Errorf("an operation that a closed service never had: %v", err)
	}
	var service *model.UnknownServiceError
	if err := model.CheckAction("qldbs", "createLedger"); !errors.As(err, &service) {
		t.Errorf("a misspelt name: %v", err)
	}
}

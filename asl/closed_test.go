package asl_test

import (
	"testing"

	"stepback/asl"
	"stepback/aws/model"
)

func TestAClosedServiceIsAWarning(t *testing.T) {
	t.Parallel()
	const text = `{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"arn:aws:states:::aws-sdk:qldb:createLedger","Parameters":{},"End":true}}}`
	m, found := asl.Options{Resources: true, Action: model.CheckAction}.Parse(text)
	if m == nil || len(found) != 1 || found[0].Severity != asl.SeverityWarning || found[0].Code != asl.ClosedService ||
		found[0].Message != "AWS has closed Amazon QLDB (qldb); a call of it fails" || found[0].Location != "/States/A/Resource" {
		t.Errorf("%v %v", m, found)
	}
}

package statemachines_test

import (
	"fmt"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/local/services/stepfunctions/wiretest"
)

func TestSDKPagesOfMachines(t *testing.T) {
	t.Parallel()
	c := wiretest.Client(wiretest.Server(t), "123456789012", "us-east-1")
	for i := range 5 {
		wiretest.Create(t, c, fmt.Sprintf("m%d", i), wiretest.Pass, types.StateMachineTypeStandard)
	}
	var names []string
	pages := sfn.NewListStateMachinesPaginator(c, &sfn.ListStateMachinesInput{MaxResults: 2})
	for pages.HasMorePages() {
		p, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range p.StateMachines {
			names = append(names, *m.Name)
		}
	}
	if strings.Join(names, " ") != "m0 m1 m2 m3 m4" {
		t.Errorf("%v", names)
	}
	_, err := c.ListStateMachines(t.Context(), &sfn.ListStateMachinesInput{NextToken: sdk.String("nonsense")})
	wiretest.Refused[*types.InvalidToken](t, err, "Invalid Token: 'Invalid token'")
}

func TestSDKVersionsAndAliases(t *testing.T) {
	t.Parallel()
	c, ctx := wiretest.Client(wiretest.Server(t), "123456789012", "us-east-1"), t.Context()
	machine := wiretest.Create(t, c, "m", wiretest.Pass, types.StateMachineTypeStandard)
	v, err := c.PublishStateMachineVersion(ctx, &sfn.PublishStateMachineVersionInput{StateMachineArn: machine,
		RevisionId: sdk.String("INITIAL")})
	if err != nil || *v.StateMachineVersionArn != *machine+":1" {
		t.Fatalf("%+v, %v", v, err)
	}
	route := func(weights ...int32) []types.RoutingConfigurationListItem {
		var list []types.RoutingConfigurationListItem
		for _, w := range weights {
			list = append(list, types.RoutingConfigurationListItem{StateMachineVersionArn: v.StateMachineVersionArn,
				Weight: w})
		}
		return list
	}
	_, err = c.CreateStateMachineAlias(ctx, &sfn.CreateStateMachineAliasInput{Name: sdk.String("live"),
		RoutingConfiguration: route(70, 29)})
	wiretest.Refused[*types.ValidationException](t, err,
		"Sum of routing configuration weights must equal 100. Received: [70, 29]")
	a, err := c.CreateStateMachineAlias(ctx, &sfn.CreateStateMachineAliasInput{Name: sdk.String("live"),
		RoutingConfiguration: route(100)})
	if err != nil {
		t.Fatal(err)
	}
	x, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: a.StateMachineAliasArn})
	if err != nil {
		t.Fatal(err)
	}
	d := wiretest.Ended(t, c, x.ExecutionArn)
	if *d.StateMachineArn != *machine || *d.StateMachineAliasArn != *machine+":live" ||
		*d.StateMachineVersionArn != *machine+":1" {
		t.Errorf("%+v", d)
	}
	_, err = c.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: sdk.String("m"),
		Definition: sdk.String(wiretest.Waiting), RoleArn: sdk.String(wiretest.Role)})
	wiretest.Refused[*types.StateMachineAlreadyExists](t, err, "State Machine Already Exists: '"+*machine+"'")
}

package local_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol/types"
	"github.com/aws/smithy-go"

	"stepback/local"
)

// control calls Cloud Control.
type control struct {
	*cloudcontrol.Client
	t *testing.T
}

func controlOf(t *testing.T, p *local.Platform) control {
	t.Helper()
	return control{cloudcontrol.NewFromConfig(settings(p)), t}
}

// ended waits until a request has completed.
func (c control) ended(e *types.ProgressEvent) *types.ProgressEvent {
	c.t.Helper()
	for e.OperationStatus == types.OperationStatusInProgress {
		out, err := c.GetResourceRequestStatus(
			c.t.Context(),
			&cloudcontrol.GetResourceRequestStatusInput{RequestToken: e.RequestToken},
		)
		if err != nil {
			c.t.Fatal(err)
		}
		e = out.ProgressEvent
	}
	return e
}

func (c control) create(typ, desired string) *types.ProgressEvent {
	c.t.Helper()
	out, err := c.CreateResource(
		c.t.Context(),
		&cloudcontrol.CreateResourceInput{TypeName: &typ, DesiredState: &desired},
	)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.ended(out.ProgressEvent)
}

func saidOf(err error) string {
	var e smithy.APIError
	if errors.As(err, &e) {
		return e.ErrorCode() + ": " + e.ErrorMessage()
	}
	return "no refusal"
}

func TestResourcesAreMadeByTheirTypes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := openPlatform(t, dir)
	c := controlOf(t, p)
	made := c.create("AWS::SQS::Queue", `{"QueueName":"jobs","VisibilityTimeout":45}`)
	url := p.Endpoint + "/000000000000/jobs"
	if made.OperationStatus != types.OperationStatusSuccess || *made.Identifier != url {
		t.Fatalf("%+v", made)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p = open(t, local.Config{Dir: dir})
	c = controlOf(t, p)
	queue := aws.String("AWS::SQS::Queue")
	url = p.Endpoint + "/000000000000/jobs"
	got, err := c.GetResource(t.Context(), &cloudcontrol.GetResourceInput{TypeName: queue, Identifier: &url})
	if err != nil || !strings.Contains(*got.ResourceDescription.Properties, `"QueueName":"jobs"`) {
		t.Fatalf("%+v, %v", got, err)
	}
	update, err := c.UpdateResource(t.Context(), &cloudcontrol.UpdateResourceInput{TypeName: queue, Identifier: &url,
		PatchDocument: aws.String(`[{"op":"add","path":"/VisibilityTimeout","value":60}]`)})
	if err != nil {
		t.Fatal(err)
	}
	if e := c.ended(update.ProgressEvent); e.OperationStatus != types.OperationStatusSuccess {
		t.Fatalf("%+v", *e)
	}
	got, err = c.GetResource(t.Context(), &cloudcontrol.GetResourceInput{TypeName: queue, Identifier: &url})
	if err != nil || !strings.Contains(*got.ResourceDescription.Properties, `"VisibilityTimeout":"60"`) &&
		!strings.Contains(*got.ResourceDescription.Properties, `"VisibilityTimeout":60`) {
		t.Fatalf("%s, %v", *got.ResourceDescription.Properties, err)
	}
	_, err = c.UpdateResource(t.Context(), &cloudcontrol.UpdateResourceInput{TypeName: queue, Identifier: &url,
		PatchDocument: aws.String(`[{"op":"replace","path":"/QueueName","value":"other"}]`)})
	if got := saidOf(err); got != "NotUpdatableException: Invalid patch update: createOnlyProperties [/properties/QueueName] cannot be updated" {
		t.Error(got)
	}
	list, err := c.ListResources(t.Context(), &cloudcontrol.ListResourcesInput{TypeName: queue})
	if err != nil || len(list.ResourceDescriptions) != 1 || *list.ResourceDescriptions[0].Identifier != url {
		t.Errorf("%+v, %v", list, err)
	}
	remove, err := c.DeleteResource(t.Context(), &cloudcontrol.DeleteResourceInput{TypeName: queue, Identifier: &url})
	if err != nil {
		t.Fatal(err)
	}
	c.ended(remove.ProgressEvent)
	_, err = c.GetResource(t.Context(), &cloudcontrol.GetResourceInput{TypeName: queue, Identifier: &url})
	if got := saidOf(err); got != "ResourceNotFoundException: Resource of type 'AWS::SQS::Queue' with identifier '"+url+"' was not found." {
		t.Error(got)
	}
	all, err := c.ListResourceRequests(t.Context(), &cloudcontrol.ListResourceRequestsInput{
		ResourceRequestStatusFilter: &types.ResourceRequestStatusFilter{
			Operations: []types.Operation{types.OperationDelete},
		}})
	if err != nil || len(all.ResourceRequestStatusSummaries) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestIdentifiersOfSeveralParts(t *testing.T) {
	t.Parallel()
	c := controlOf(t, open(t, local.Config{}))
	api := c.create("AWS::ApiGatewayV2::Api", `{"Name":"a","ProtocolType":"HTTP"}`)
	if api.OperationStatus != types.OperationStatusSuccess {
		t.Fatalf("%+v", *api)
	}
	stage := c.create("AWS::ApiGatewayV2::Stage", `{"ApiId":"`+*api.Identifier+`","StageName":"prod"}`)
	if stage.OperationStatus != types.OperationStatusSuccess || *stage.Identifier != *api.Identifier+"|prod" {
		t.Fatalf("%+v", *stage)
	}
	got, err := c.GetResource(
		t.Context(),
		&cloudcontrol.GetResourceInput{TypeName: aws.String("AWS::ApiGatewayV2::Stage"), Identifier: stage.Identifier},
	)
	if err != nil || !strings.Contains(*got.ResourceDescription.Properties, `"StageName":"prod"`) {
		t.Errorf("%+v, %v", got, err)
	}
	rule := c.create("AWS::Events::Rule", `{"Name":"r","EventPattern":{"source":["a"]}}`)
	if rule.OperationStatus != types.OperationStatusSuccess ||
		*rule.Identifier != "arn:aws:events:us-east-1:000000000000:rule/r" {
		t.Fatalf("%+v", *rule)
	}
	if _, err := c.GetResource(t.Context(), &cloudcontrol.GetResourceInput{TypeName: aws.String("AWS::Events::Rule"), Identifier: rule.Identifier}); err != nil {
		t.Error(err)
	}
}

func TestWhatCloudControlRefuses(t *testing.T) {
	t.Parallel()
	c := controlOf(t, open(t, local.Config{}))
	for want, in := range map[string]*cloudcontrol.CreateResourceInput{
		"TypeNotFoundException: The type 'AWS::Rocket::Ship' cannot be found.": {TypeName: aws.String("AWS::Rocket::Ship"), DesiredState: aws.String("{}")},
		"ValidationException: Model validation failed (#: extraneous key [Colour] is not permitted)": {TypeName: aws.String("AWS::SQS::Queue"),
			DesiredState: aws.String(`{"Colour":"red"}`)},
		"InvalidRequestException: The desired state is no JSON object: [": {TypeName: aws.String("AWS::SQS::Queue"), DesiredState: aws.String(`[`)},
	} {
		_, err := c.CreateResource(t.Context(), in)
		if got := saidOf(err); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	failed := c.create("AWS::SQS::Queue", `{"QueueName":"q","VisibilityTimeout":100000000}`)
	if failed.OperationStatus != types.OperationStatusFailed || failed.ErrorCode == "" || failed.StatusMessage == nil {
		t.Errorf("%+v", *failed)
	}
	twice := &cloudcontrol.CreateResourceInput{
		TypeName:     aws.String("AWS::SNS::Topic"),
		DesiredState: aws.String(`{"TopicName":"t"}`),
		ClientToken:  aws.String("once"),
	}
	first, err := c.CreateResource(t.Context(), twice)
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.CreateResource(t.Context(), twice)
	if err != nil || *second.ProgressEvent.RequestToken != *first.ProgressEvent.RequestToken {
		t.Errorf("%+v, %v", second, err)
	}
	twice.DesiredState = aws.String(`{"TopicName":"other"}`)
	_, err = c.CreateResource(t.Context(), twice)
	if got := saidOf(err); !strings.HasPrefix(got, "ClientTokenConflictException: ") {
		t.Error(got)
	}
	_, err = c.GetResourceRequestStatus(
		t.Context(),
		&cloudcontrol.GetResourceRequestStatusInput{RequestToken: aws.String("nothing")},
	)
	if got := saidOf(err); got != "RequestTokenNotFoundException: Request with token nothing was not found" {
		t.Error(got)
	}
}

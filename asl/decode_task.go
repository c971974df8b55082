package asl

import (
	"strings"

	"stepback/aws"
	"stepback/jsonvalue"
)

func (d *decoder) task(o object, s *State) {
	if o.require("Resource") {
		s.Resource = d.resource(o)
		d.integrationParameters(o, s.Resource)
	}
	s.TimeoutSeconds = o.scalar("TimeoutSeconds", positiveSeconds, referencePath)
	s.HeartbeatSeconds = o.scalar("HeartbeatSeconds", positiveSeconds, referencePath)
	d.checkHeartbeat(s)
	s.Credentials = d.credentials(o, s.Resource)
}

// checkHeartbeat reports a literal heartbeat that is not shorter than the literal timeout.
func (d *decoder) checkHeartbeat(s *State) {
	if s.TimeoutSeconds.Literal == nil || s.HeartbeatSeconds.Literal == nil {
		return
	}
	timeout, ok1 := s.TimeoutSeconds.Literal.Int()
	heartbeat, ok2 := s.HeartbeatSeconds.Literal.Int()
	if ok1 && ok2 && heartbeat >= timeout {
		d.enter("HeartbeatSeconds")
		d.fail("'HeartbeatSeconds' must be smaller than 'TimeoutSeconds'").hint("a whole number below TimeoutSeconds")
		d.leave()
	}
}

// resource decodes a Task's Resource, which must be an ARN. In an express state machine it must be a
// request-response integration.
func (d *decoder) resource(o object) string {
	arn := o.str("Resource")
	if v, _ := o.get("Resource"); v.Kind() != jsonvalue.String {
		return ""
	}
	d.enter("Resource")
	defer d.leave()
	if !isARN(arn) {
		d.fail("Value is not a valid resource ARN").
			hint("an ARN such as arn:aws:states:::lambda:invoke or arn:aws:lambda:REGION:ACCOUNT:function:NAME")
		return arn
	}
	switch hint, unknown := d.options.unknownResource(arn); {
	case unknown && d.options.Resources:
		d.fail("The resource provided %s is not recognized. The value is not a valid resource ARN, or the resource is not available in this region.", arn).
			hint(hint)
	case hint != "" && !unknown:
		d.report(SeverityWarning, ClosedService, hint)
	}
	if d.express {
		d.checkExpress(arn)
	}
	return arn
}

func (d *decoder) checkExpress(arn string) {
	const hint = "an express state machine waits for no jobs, callbacks or workers; use type STANDARD"
	switch {
	case isActivity(arn):
		d.fail("Express state machine does not support Activity ARN").hint(hint)
	case strings.HasSuffix(arn, ".waitForTaskToken"):
		// The trailing blank is in the service's message.
		d.fail("Express state machine does not support '.waitForTaskToken' service integration ").hint(hint)
	case strings.HasSuffix(arn, ".sync") || strings.HasSuffix(arn, ".sync:2"):
		d.fail("Express state machine does not support '.sync' service integration").hint(hint)
	}
}

// isARN reports whether s has the form arn:partition:service:region:account:resource; region and account may be
// empty.
func isARN(s string) bool {
	a, _ := aws.ParseARN(s)
	return a.Partition != "" && a.Service != "" && a.Resource != ""
}

func isActivity(arn string) bool {
	a, _ := aws.ParseARN(arn)
	return a.Service == "states" && strings.HasPrefix(a.Resource, "activity:")
}

// credentials decodes a Task's Credentials, which require a RoleArn.
func (d *decoder) credentials(o object, resource string) *jsonvalue.Value {
	v, ok := o.get("Credentials")
	if !ok {
		return nil
	}
	if isActivity(resource) {
		d.fail("The field 'Credentials' is not supported for activities").onKey("Credentials")
	}
	d.enter("Credentials")
	switch {
	case v.Kind() != jsonvalue.Object:
		d.expect("Object", v)
	default:
		d.requireKey(v, "RoleArn", o.language)
	}
	d.leave()
	return o.template("Credentials", 0)
}

// requireKey reports an error if v has neither the member key nor (in JSONPath) the member key.$.
func (d *decoder) requireKey(v jsonvalue.Value, key string, language QueryLanguage) {
	_, plain := v.Get(key)
	_, path := v.Get(key + ".$")
	if !plain && (!path || language != JSONPath) {
		d.fail("The field '%s' is required but was missing", key)
	}
}

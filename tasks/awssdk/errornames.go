package awssdk

import (
	"cmp"
	"slices"
	"strings"
)

// ErrorNames returns the names of the errors with which a task can fail, sorted, for the part of its Resource that
// names the integration, such as aws-sdk:s3:getObject or dynamodb:putItem.waitForTaskToken. They are the errors in the
// model of the called operation, the service's error for those without a model, and SdkClientException for calls
// without an answer. It returns nil for integrations that are not calls of an AWS service.
func ErrorNames(integration string) []string {
	name, _, _ := strings.Cut(integration, ".")
	var n naming
	var service, action string
	if sdk, ok := strings.CutPrefix(name, "aws-sdk:"); ok {
		service, action, _ = strings.Cut(sdk, ":")
	} else {
		o := optimized[name]
		if name == "states:startExecution" {
			o = &startExecutionOf
		}
		if o == nil {
			return nil
		}
		service, action, n.prefix, n.base = o.serviceName, o.action, o.prefix, o.base
	}
	s, err := serviceOf(service)
	if err != nil {
		return nil
	}
	if n.prefix == "" {
		n = sdkNaming(s)
	}
	names := []string{n.prefix + "." + n.base, n.prefix + ".SdkClientException"}
	if o, err := s.Action(action); err == nil {
		for _, e := range o.Errors {
			names = append(names, n.prefix+"."+exceptionName(cmp.Or(s.translated[o.Name+":"+e.Name], e.Name)))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

package statemachines

import (
	"slices"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/resource"
)

// maxAliases is the maximum number of aliases per state machine.
const maxAliases = 100

func invalidRouting(message string) error {
	return &aws.Error{Code: "ValidationException", Message: message,
		Members: map[string]any{"reason": "INVALID_ROUTING_CONFIGURATION"}}
}

// checkRouting validates routes as far as possible without the state machine. It returns the ARN of the state
// machine that all versions belong to.
func checkRouting(routes []Route) (*resource.ARN, error) {
	received := versionsIn(routes)
	sum, weights := 0, make([]string, len(routes))
	var first *resource.ARN
	for i, r := range routes {
		at, err := resource.Parse(r.VersionARN, resource.KindMachine)
		if err != nil {
			return nil, err
		}
		if !isVersion(at) {
			return nil, invalidRouting("Routing configuration must contain state machine version ARNs. Received: " +
				received)
		}
		if first == nil {
			first = at
		}
		if at.Machine() != first.Machine() {
			return nil, invalidRouting("Routing configuration must contain versions of the same state machine. Received: " + received)
		}
		sum += r.Weight
		weights[i] = strconv.Itoa(r.Weight)
	}
	const all = 100
	if sum != all {
		return nil, invalidRouting("Sum of routing configuration weights must equal 100. Received: [" +
			strings.Join(weights, ", ") + "]")
	}
	if len(routes) > 1 && routes[0].VersionARN == routes[1].VersionARN {
		return nil, invalidRouting("Routing configuration must contain distinct state machine version ARNs. Received: " + received)
	}
	return first, nil
}

func versionsIn(routes []Route) string {
	arns := make([]string, len(routes))
	for i, r := range routes {
		arns[i] = r.VersionARN
	}
	return "[" + strings.Join(arns, ", ") + "]"
}

// isVersion reports whether an ARN names a version, that is, whether its qualifier is a number.
func isVersion(at *resource.ARN) bool {
	const qualified = 2
	return len(at.Names) == qualified && strings.Trim(at.Names[1], "0123456789") == ""
}

// routesTo returns an error unless the machine has all versions in routes.
func (m *Machine) routesTo(routes []Route) error {
	for _, r := range routes {
		if m.version(r.VersionARN) == nil {
			return apierror.ErrNoReference
		}
	}
	return nil
}

// aliased returns the state machine of an alias, and the alias or nil if it does not exist. The caller holds the
// lock.
func (s *Service) aliased(scope aws.Scope, arn string) (*Machine, *Alias, error) {
	at, err := resource.Parse(arn, resource.KindMachine)
	if err != nil {
		return nil, nil, err
	}
	if !at.Qualified() || isVersion(at) {
		return nil, nil, apierror.InvalidARN("Invalid ARN: " + arn)
	}
	m, err := s.machine(scope, at)
	if apierror.IsMissing(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return m, m.alias(arn), nil
}

func (a *Alias) sameAs(o *Alias) bool {
	return a.Name == o.Name && a.Description == o.Description && slices.Equal(a.Routing, o.Routing)
}

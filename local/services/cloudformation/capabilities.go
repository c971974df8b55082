package cloudformation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepback/aws"
)

// allowed rejects resources of types that the request does not allow.
func (c *compiled) allowed(types []string) error {
	if len(types) == 0 {
		return nil
	}
	for _, id := range c.graph.IDs {
		if typ := c.Resource(id).Type; !slices.ContainsFunc(
			types,
			func(pattern string) bool { return aws.Matches(pattern, typ) },
		) {
			return invalid(
				"Resource type %s is not allowed by parameter ResourceTypes [%s]",
				typ,
				strings.Join(types, ", "),
			)
		}
	}
	return nil
}

// isFunction reports whether all properties are the result of a single function, such as Fn::If.
func isFunction(p map[string]any) bool {
	if len(p) != 1 {
		return false
	}
	for k := range p {
		return strings.HasPrefix(k, "Fn::")
	}
	return false
}

// capabilities returns the capabilities that a caller has to acknowledge, and the types that require them.
func (c *compiled) capabilities() (names []string, types []string) {
	kinds := map[string]bool{}
	named := false
	for _, id := range c.graph.IDs {
		r := c.Resource(id)
		if strings.HasPrefix(r.Type, "AWS::IAM::") {
			kinds[r.Type] = true
			for _, p := range []string{"RoleName", "ManagedPolicyName", "UserName", "GroupName", "InstanceProfileName"} {
				if _, ok := r.Properties[p]; ok && r.Type != "AWS::IAM::RolePolicy" {
					named = true
				}
			}
		}
	}
	types = slices.Sorted(maps.Keys(kinds))
	if len(types) > 0 {
		names = append(names, "CAPABILITY_IAM")
		if named {
			names = []string{"CAPABILITY_NAMED_IAM"}
		}
	}
	return names, types
}

// acknowledged returns an error if the caller has not acknowledged the required capabilities.
func (c *compiled) acknowledged(given []string, changeSet bool) error {
	needed, _ := c.capabilities()
	for _, n := range needed {
		if !slices.Contains(given, n) && (n != "CAPABILITY_IAM" || !slices.Contains(given, "CAPABILITY_NAMED_IAM")) {
			return &aws.Error{Code: "InsufficientCapabilitiesException",
				Message: fmt.Sprintf("Requires capabilities : [%s]", n)}
		}
	}
	if c.macros && !changeSet && !slices.Contains(given, "CAPABILITY_AUTO_EXPAND") {
		return &aws.Error{
			Code:    "InsufficientCapabilitiesException",
			Message: "Requires capabilities : [CAPABILITY_AUTO_EXPAND]",
		}
	}
	return nil
}

package template

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// supported lists the functions as CloudFormation names them in errors.
const supported = "[Fn::Base64, Fn::GetAtt, Fn::GetAZs, Fn::ImportValue, Fn::Join, Fn::Split, Fn::FindInMap, Fn::Select, Ref, " +
	"Fn::Equals, Fn::If, Fn::Not, Condition, Fn::And, Fn::Or, Fn::Contains, Fn::EachMemberEquals, Fn::EachMemberIn, Fn::ValueOf, " +
	"Fn::ValueOfAll, Fn::RefAll, Fn::Sub, Fn::Cidr]"

// checkFunctions rejects unknown functions in properties and outputs, and arguments that can have no value whatever
// the parameters are. CloudFormation reports these before it creates a stack.
func (t *Template) checkFunctions() error {
	extended := slices.Contains(t.Transforms, LanguageExtensions)
	for i := range t.Resources {
		if err := checkCalls(t.Resources[i].Properties, extended); err != nil {
			return err
		}
	}
	for i := range t.Outputs {
		if err := checkCalls(t.Outputs[i].Value, extended); err != nil {
			return err
		}
		if !evaluatesToText(t.Outputs[i].Value) {
			return wrong("Template format error: The Value field of every Outputs member must evaluate to a String.")
		}
	}
	return nil
}

// evaluatesToText reports whether a value is a scalar or a function.
func evaluatesToText(v any) bool {
	switch v := v.(type) {
	case []any:
		return false
	case map[string]any:
		for name := range v {
			return len(v) == 1 && (name == "Ref" || strings.HasPrefix(name, "Fn::"))
		}
		return false
	}
	return true
}

func checkCalls(v any, extended bool) error {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := checkCalls(e, extended); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if len(v) == 1 {
				if err := checkCall(name, v[name], extended); err != nil {
					return err
				}
			}
			if err := checkCalls(v[name], extended); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkCall(name string, arg any, extended bool) error {
	_, known := functions[name]
	if !extended && (name == "Fn::Length" || name == "Fn::ToJsonString") {
		known = false
	}
	if strings.HasPrefix(name, "Fn::") && !known {
		return wrong("Template error: Encountered unsupported function: %s Supported functions are: %s", name, supported)
	}
	list, ok := arg.([]any)
	switch name {
	case "Fn::Join":
		if !ok || len(list) != 2 || isScalar(list[1]) {
			return wrong("Template error: %s", joinArguments)
		}
	case "Fn::FindInMap":
		if !ok || len(list) != 3 && len(list) != 4 {
			return wrong("Template error: %s", findInMapArguments)
		}
	case "Fn::Select":
		if !ok || len(list) != 2 {
			return nil // reported when it is evaluated
		}
		from, literal := list[1].([]any)
		index, _ := TextOf(list[0])
		if n, err := strconv.Atoi(index); literal && err == nil && (n < 0 || n >= len(from)) {
			return wrong("Template error: Fn::Select cannot select nonexistent value at index %d", n)
		}
	}
	return nil
}

// CheckDefaults returns an *Error for a DefaultValue of Fn::FindInMap, which needs AWS::LanguageExtensions.
func (t *Template) CheckDefaults(extended bool) error {
	if extended {
		return nil
	}
	values := []any{t.Conditions}
	for i := range t.Resources {
		values = append(values, t.Resources[i].Properties)
	}
	for i := range t.Outputs {
		values = append(values, t.Outputs[i].Value)
	}
	var check func(v any) error
	check = func(v any) error {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				if err := check(e); err != nil {
					return err
				}
			}
		case map[string]any:
			if list, ok := v["Fn::FindInMap"].([]any); ok && len(v) == 1 && len(list) != 3 {
				return wrong("Template error: %s", findInMapArguments)
			}
			for _, e := range v {
				if err := check(e); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return check(values)
}

func isScalar(v any) bool {
	switch v.(type) {
	case []any, map[string]any:
		return false
	}
	return true
}

// withSnapshots lists the resource types whose policies can be Snapshot ("DeletionPolicy attribute").
var withSnapshots = []string{"AWS::DocDB::DBCluster", "AWS::EC2::Volume", "AWS::ElastiCache::CacheCluster",
	"AWS::ElastiCache::ReplicationGroup", "AWS::Neptune::DBCluster", "AWS::RDS::DBCluster", "AWS::RDS::DBInstance",
	"AWS::Redshift::Cluster"}

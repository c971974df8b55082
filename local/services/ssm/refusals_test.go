package ssm_test

import (
	"errors"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"
)

func refusedWith(t *testing.T, err error, code, message string) {
	t.Helper()
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != code || !strings.HasPrefix(e.ErrorMessage(), message) {
		t.Errorf("%v; want %s: %s", err, code, message)
	}
}

// TestParametersThatAreRefused follows API_PutParameter.
func TestParametersThatAreRefused(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	for _, p := range []struct{ name, value, dataType, message string }{
		{"/a/", "v", "", "Parameter name: can't be prefixed with"},
		{"/a//b", "v", "", "Parameter name: can't be prefixed with"},
		{"/", "v", "", "Parameter name: can't be prefixed with"},
		{"/" + strings.Repeat("a", 970), "v", "", "The maximum length of a parameter's name, with its ARN, is 1011 characters."},
		{"/a", "", "", "1 validation error detected: Value '' at 'value' failed to satisfy constraint: Member must have length " +
			"greater than or equal to 1"},
		{"/a", "{{ssm:b}}", "", "Parameter value can't nest another parameter. Do not use \"{{}}\" in the value."},
		{"/a", "v", "Text", "The following data type is not supported: Text (Data type names are all lowercase.)"},
	} {
		_, err := c.PutParameter(t.Context(), &client.PutParameterInput{Name: &p.name, Value: &p.value,
			DataType: &p.dataType, Type: types.ParameterTypeString})
		refusedWith(t, err, "ValidationException", p.message)
	}
}

func TestTiersAreNotLowered(t *testing.T) {
	t.Parallel()
	c, name := newClient(t), sdk.String("/a")
	put(t, c, &client.PutParameterInput{Name: name, Value: name, Type: types.ParameterTypeString,
		Tier: types.ParameterTierAdvanced})
	again := &client.PutParameterInput{Name: name, Value: name, Overwrite: sdk.Bool(true)}
	if out := put(t, c, again); out.Tier != types.ParameterTierAdvanced {
		t.Errorf("without a tier: %s", out.Tier)
	}
	again.Tier = types.ParameterTierStandard
	_, err := c.PutParameter(t.Context(), again)
	refusedWith(t, err, "ValidationException", "This parameter uses the advanced-parameter tier. You can't downgrade a parameter")
}

func TestFiltersThatAreRefused(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	filter := func(key string, values ...string) types.ParameterStringFilter {
		return types.ParameterStringFilter{Key: &key, Values: values}
	}
	for _, f := range []struct {
		filters       []types.ParameterStringFilter
		code, message string
	}{
		{[]types.ParameterStringFilter{filter("Tier", "High")}, "InvalidFilterValue",
			"The following filter value is not valid: High. Valid values include: [Standard, Advanced, Intelligent-Tiering]."},
		{[]types.ParameterStringFilter{filter("Type", "Text")}, "InvalidFilterValue",
			"The following filter value is not valid: Text. Valid values include: [String, StringList, SecureString]."},
		{[]types.ParameterStringFilter{filter("Name")}, "InvalidFilterValue",
			"The following filter values are missing : null for filter key Name"},
		{[]types.ParameterStringFilter{filter("Name", "a"), filter("Name", "b")}, "InvalidFilterKey", ""},
	} {
		_, err := c.DescribeParameters(t.Context(), &client.DescribeParametersInput{ParameterFilters: f.filters})
		refusedWith(t, err, f.code, f.message) // InvalidFilterKey has no message in the model
	}
	_, err := c.DescribeParameters(t.Context(), &client.DescribeParametersInput{
		ParameterFilters: []types.ParameterStringFilter{filter("Name", "a")},
		Filters:          []types.ParametersFilter{{Key: "Name", Values: []string{"a"}}}})
	refusedWith(t, err, "ValidationException", "You can use either Filters or ParameterFilters in a single request.")
	if _, err := c.DescribeParameters(t.Context(), &client.DescribeParametersInput{
		ParameterFilters: []types.ParameterStringFilter{filter("tag:a"), filter("tag:b", "c"), filter("Tier", "Standard")}}); err != nil {
		t.Error(err)
	}
}

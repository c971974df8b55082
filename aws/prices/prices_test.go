package prices_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/aws/prices"
)

func TestTheDefaultRegionHasEveryPrice(t *testing.T) {
	t.Parallel()
	l := prices.InDefault()
	for _, item := range prices.Items() {
		if l.Of(item) <= 0 {
			t.Errorf("%s costs %v", item, l.Of(item))
		}
	}
	if _, err := time.Parse(time.DateOnly, l.Date); err != nil || l.Source == "" || l.Region != prices.Default {
		t.Errorf("prices of %q, %q, from %q", l.Region, l.Date, l.Source)
	}
	if !strings.HasPrefix(l.Date, l.Month()+"-") {
		t.Errorf("%s is not of %s", l.Date, l.Month())
	}
}

func TestARegionWithoutAPriceIsRefused(t *testing.T) {
	t.Parallel()
	seoul, err := prices.In("ap-northeast-2", prices.StateTransitions, prices.LambdaRequests)
	if err != nil || seoul.Of(prices.StateTransitions) != 0.0271 || seoul.Of(prices.LambdaRequests) != 0.2 {
		t.Errorf("%+v, %v", seoul, err)
	}
	for _, c := range []struct {
		region string
		items  []prices.Item
		want   []string
	}{
		{"mars-north-1", []prices.Item{prices.StateTransitions}, []string{`no prices of region "mars-north-1"`, "ap-northeast-2"}},
		{"ap-northeast-2", []prices.Item{prices.StateTransitions, prices.LogGB},
			[]string{"ap-northeast-2", "logGB", "[us-east-1]"}},
	} {
		_, err := prices.In(c.region, c.items...)
		if err == nil || slices.ContainsFunc(c.want, func(s string) bool { return !strings.Contains(err.Error(), s) }) {
			t.Errorf("%s: %v, want %q", c.region, err, c.want)
		}
	}
}

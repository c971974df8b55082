package controller_test

import (
	"context"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/adaptive/controller"
	"stepback/retrymetrics"
)

// deploy publishes a version as a deployment does, and points the alias live at it.
func (w *world) deploy(t *testing.T, definition string) {
	t.Helper()
	updated, err := w.client.UpdateStateMachine(t.Context(), &sfn.UpdateStateMachineInput{StateMachineArn: &w.Machine,
		Definition: &definition, Publish: true, VersionDescription: sdk.String("deployment")})
	if err != nil {
		t.Fatal(err)
	}
	w.route(t, types.RoutingConfigurationListItem{StateMachineVersionArn: updated.StateMachineVersionArn, Weight: 100})
}

func (w *world) route(t *testing.T, routes ...types.RoutingConfigurationListItem) {
	t.Helper()
	if w.Alias == "" {
		made, err := w.client.CreateStateMachineAlias(t.Context(), &sfn.CreateStateMachineAliasInput{
			Name: sdk.String("live"), RoutingConfiguration: routes})
		if err != nil {
			t.Fatal(err)
		}
		w.Alias, w.Aliases = *made.StateMachineAliasArn, w.client
		return
	}
	if _, err := w.client.UpdateStateMachineAlias(t.Context(), &sfn.UpdateStateMachineAliasInput{
		StateMachineAliasArn: &w.Alias, RoutingConfiguration: routes}); err != nil {
		t.Fatal(err)
	}
}

// live returns the definition that the alias points at, and its version.
func (w *world) live(t *testing.T) (definition, version string) {
	t.Helper()
	alias, err := w.client.DescribeStateMachineAlias(t.Context(),
		&sfn.DescribeStateMachineAliasInput{StateMachineAliasArn: &w.Alias})
	if err != nil || len(alias.RoutingConfiguration) != 1 {
		t.Fatalf("%v, %v", alias, err)
	}
	version = *alias.RoutingConfiguration[0].StateMachineVersionArn
	described, err := w.client.DescribeStateMachine(t.Context(),
		&sfn.DescribeStateMachineInput{StateMachineArn: &version})
	if err != nil {
		t.Fatal(err)
	}
	return *described.Definition, version
}

func TestTheAliasFollowsAChange(t *testing.T) {
	t.Parallel()
	rows := &controller.MemoryRows{}
	w := newWorld(t, rows)
	w.deploy(t, definition+" ")
	_, before := w.live(t)
	w.measured(10, 0.9)
	if res := w.tick(t); res.Failed != "" || !res.Decisions[0].Changes() {
		t.Fatalf("%+v", res)
	}
	changed, after := w.live(t)
	if after == before || controller.Hash(changed) == controller.Hash(definition) {
		t.Errorf("the alias leads to %s, and led to %s before", after, before)
	}
}

func TestADeploymentIsTheNewBase(t *testing.T) {
	t.Parallel()
	rows := &controller.MemoryRows{}
	w := newWorld(t, rows)
	w.deploy(t, definition+" ")
	w.measured(10, 0)
	w.tick(t)
	next := strings.Replace(definition, `"BackoffRate":1.5`, `"BackoffRate":2`, 1)
	w.deploy(t, next)
	w.now = w.now.Add(10 * time.Minute)
	w.measured(10, 0)
	if res := w.tick(t); res.Note != "" {
		t.Errorf("a deployment is taken for somebody's edit: %s", res.Note)
	}
	row, _ := rows.Load(t.Context(), w.Machine)
	if controller.Hash(row.Base) != controller.Hash(next) {
		t.Error("the base is still the definition before")
	}
	// A definition edited by hand, without a version published by a deployment, is left alone.
	byHand := strings.Replace(definition, `"BackoffRate":1.5`, `"BackoffRate":3`, 1)
	if _, err := w.client.UpdateStateMachine(t.Context(), &sfn.UpdateStateMachineInput{StateMachineArn: &w.Machine,
		Definition: &byHand}); err != nil {
		t.Fatal(err)
	}
	if res := w.tick(t); !strings.HasPrefix(res.Note, "nothing changed: the definition") {
		t.Errorf("%+v", res)
	}
}

func TestADeploymentUnderWayIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &controller.MemoryRows{})
	w.deploy(t, definition+" ")
	_, first := w.live(t)
	w.deploy(t, strings.Replace(definition, `"BackoffRate":1.5`, `"BackoffRate":2`, 1))
	_, second := w.live(t)
	w.route(t, types.RoutingConfigurationListItem{StateMachineVersionArn: &first, Weight: 80},
		types.RoutingConfigurationListItem{StateMachineVersionArn: &second, Weight: 20})
	w.measured(10, 0.9)
	if res := w.tick(t); len(res.Decisions) != 0 ||
		res.Note != "a deployment is in progress: the alias points at two versions" {
		t.Errorf("%+v", res)
	}
}

// counted counts how often metrics are read.
type counted struct {
	controller.Metrics
	reads int
}

func (c *counted) Minutes(ctx context.Context, all []retrymetrics.Series, from, to time.Time,
) ([]map[time.Time]float64, error) {
	c.reads++
	return c.Metrics.Minutes(ctx, all, from, to)
}

// No metrics are read while nothing runs, because each read costs money every minute.
func TestNoMetricsAreReadWhileNothingRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &controller.MemoryRows{})
	w.measured(10, 0.9)
	metrics := &counted{Metrics: w.Metrics}
	w.Metrics, w.SparesIdle = metrics, true
	if res := w.tick(t); metrics.reads != 0 || res.Note != "no execution is running or started recently, and the definition is the base" {
		t.Errorf("%d reads, %+v", metrics.reads, res)
	}
	// After a change, metrics are read until it has been restored.
	w.SparesIdle = false
	if res := w.tick(t); !res.Decisions[0].Changes() {
		t.Fatalf("%+v", res)
	}
	w.SparesIdle, metrics.reads = true, 0
	if w.tick(t); metrics.reads == 0 {
		t.Error("a changed definition is not looked at any more")
	}
}

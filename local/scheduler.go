package local

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/engine"
	"stepback/jsonvalue"
	"stepback/local/endpoint"
	"stepback/local/services/delivery"
	"stepback/local/services/scheduler"
	"stepback/tasks/awssdk"
)

// openScheduler opens EventBridge Scheduler. Its schedules start once everything else is open (Resume).
func (p *Platform) openScheduler(context.Context) (err error) {
	p.Scheduler, err = scheduler.Open(scheduler.Options{Store: p.Documents, Clock: p.Clock, Scope: p.Scope,
		Targets: &p.Targets, Call: p.act, Check: model.CheckAction, Log: p.cfg.Log})
	if err != nil {
		return err
	}
	p.onClose(p.Scheduler.Close)
	p.offer(served{model: "scheduler", about: "schedules and their deliveries; in " + filepath.Join(p.Dir, "documents"),
		Service: endpoint.Service{Name: "Scheduler", Signing: "scheduler", Handler: lazily(p.Scheduler.Handler)}})
	return nil
}

// act carries out an action of a service, as a task of a state machine would, and returns the service's error.
func (p *Platform) act(ctx context.Context, scope aws.Scope, service, action string, input jsonvalue.Value) error {
	caller := &awssdk.Caller{Account: scope.Account, Region: scope.Region, Endpoints: p.around.endpoints}
	from, _ := delivery.SenderOf(ctx)
	ctx, _, err := p.around.guard.withRole(ctx, from.Role, sessionOf(from.Service))
	if err != nil {
		return err
	}
	_, err = caller.Call(ctx, service, action, input)
	var failed *engine.Failure
	if !errors.As(err, &failed) {
		return err
	}
	refused := &aws.Error{Code: failed.Name[strings.LastIndexByte(failed.Name, '.')+1:], Message: failed.Cause}
	if strings.Contains(refused.Code, "SdkClient") || strings.Contains(refused.Code, "Internal") {
		refused.Status = http.StatusServiceUnavailable
	}
	return refused
}

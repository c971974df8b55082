package local

import (
	"context"

	"stepback/local/endpoint"
	"stepback/local/services/sns"
)

// openTopics opens the embedded SNS. It resumes deliveries at once, so its targets must already be open.
func (p *Platform) openTopics(context.Context) (err error) {
	p.Topics, err = sns.Open(sns.Options{Dir: p.Dir, Store: p.Documents, Files: p.files, Clock: p.Clock, Scope: p.Scope,
		Endpoint: p.Endpoint, Queues: judgedQueues{p.Queues, &p.Targets}, Targets: &p.Targets, Count: p.topicCounts,
		Principal: p.principal,
		Transport: p.cfg.Targets.Transport(),
		Log:       p.cfg.Log})
	if err != nil {
		return err
	}
	p.onClose(p.Topics.Close)
	p.offer(served{model: "sns", covers: p.Topics.Coverage, about: "topics, their subscriptions and an inbox; messages of topics without " +
		"subscriptions are in " + sns.FileName,
		Service: endpoint.Service{Name: "SNS", Signing: "sns", Claims: sns.Claims, Handler: p.Topics.Handler()}})
	p.Targets.Register("sns", p.Topics)
	return nil
}

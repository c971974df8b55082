package scenario

import (
	"strconv"
	"strings"
	"time"

	"stepback/internal/strictyaml"
)

func (p *parser) readServices(v strictyaml.Value) {
	members := v.Members()
	if v.Present() && len(members) == 0 && v.IsObject() || len(members) > maxServices {
		v.Problem("write 1 to %d services, by name", maxServices)
		return
	}
	for _, m := range members {
		p.services[m.Name] = len(p.s.Services)
		p.s.Services = append(p.s.Services, p.service(m.Name, m.Value))
	}
	for i, v := range p.downstreams {
		p.downstream(v, &p.s.Services[i])
	}
	for i := range p.s.Services {
		at := i
		for range p.s.Services {
			if p.s.Services[at].Calls == nil {
				break
			}
			if at = p.s.Services[at].Calls.Service; at == i {
				members[i].Problem("the service calls itself, over the services that it calls; remove one of the calls")
				p.s.Services[i].Calls = nil
				break
			}
		}
	}
}

// downstream parses the call that a service makes itself.
func (p *parser) downstream(v strictyaml.Value, s *Service) {
	if !v.Present() {
		return
	}
	o := v.Object("service", "timeout", "timeoutError", "retry", "error")
	d := &Downstream{
		Service: p.serviceIndex(o.Need("service")), Timeout: o.Get("timeout").DurationOr(0, time.Millisecond, MaxDuration),
		TimeoutError: nameOr(o.Get("timeoutError"), statesTimeout), Error: nameOr(o.Get("error"), "ServiceUnavailableError"),
	}
	if retry := o.Get("retry"); retry.IsList() {
		d.Retriers = retriers(retry)
	} else if retry.Present() {
		d.Retriers = named(retry)
	}
	s.Calls = d
}

func (p *parser) capacityOf(o strictyaml.Object, s *Service) {
	s.Partitions = 1
	if v := o.Get("partitions"); v.Present() {
		m := v.Object("count", "hot")
		s.Partitions = m.Need("count").Whole(2, 1000)
		s.Hot = m.Get("hot").NumberOr(1/float64(max(s.Partitions, 1)), 0, 1)
	}
	if v := o.Get("quota"); v.Present() {
		s.Quota = quota(v, s)
	}
	if v := o.Get("autoscale"); v.Present() {
		m := v.Object("max", "target", "every", "delay")
		s.Autoscale = &Autoscale{
			Max: m.Need("max").WholeOr(s.Servers, 1, MaxServers), Target: m.Get("target").NumberOr(0.7, 0.01, 1),
			Every: m.Get("every").DurationOr(time.Minute, time.Second, MaxDuration),
			Delay: m.Get("delay").DurationOr(0, 0, MaxDuration),
		}
		if s.Autoscale.Max < s.Servers {
			m.Get("max").Problem("max is below the %d servers that the service starts with", s.Servers)
		}
	}
	if v := o.Get("coldStart"); v.Present() {
		m := v.Object("time", "keep", "ramp")
		s.ColdStart = &ColdStart{Time: p.distribution(m.Need("time")),
			Keep: m.Get("keep").DurationOr(5*time.Minute, time.Millisecond, MaxDuration)}
		if ramp := m.Get("ramp"); ramp.Present() {
			s.ColdStart.Ramp = rampOf(ramp)
		}
	}
	if v := o.Get("cache"); v.Present() {
		m := v.Object("keys", "keep", "time")
		s.Cache = &Cache{
			Keys: m.Need("keys").WholeOr(1, 1, 100_000_000), Keep: m.Get("keep").DurationOr(MaxDuration, time.Millisecond, MaxDuration),
			Time: m.Need("time").DurationOr(0, 0, MaxDuration),
		}
	}
}

// The quotas of AWS, as of November 2026. Each service's Developer Guide has them: "Quotas for configuring and running a REST
// API" (10,000 requests a second, bursts of 5,000), "Burst and adaptive capacity" of DynamoDB (300 s of unused capacity) and
// "Understanding function scaling" of Lambda (ten requests a second for each unit of concurrency; 1,000 environments more
// every 10 s).
const (
	gatewayRate, gatewayBurst = 10_000, 5_000
	dynamoDBBurst             = 300 // seconds
	lambdaRequests            = 10  // a second, for each unit of concurrency
	lambdaRamp                = 1_000
	lambdaRampEvery           = 10 * time.Second
)

// quota parses a quota: its own numbers, or those of an AWS service that it names.
func quota(v strictyaml.Value, s *Service) *Quota {
	m := v.Object("of", "rate", "burst", "error")
	q := &Quota{Error: "TooManyRequestsException"}
	of := m.Get("of")
	if !of.Present() {
		q.Rate = m.Need("rate").NumberOr(1, 1e-3, 1e9)
		q.Burst = max(q.Rate, 1)
	} else {
		switch of.OneOf("api-gateway", "dynamodb", "lambda") {
		case "dynamodb":
			q.Error = "ProvisionedThroughputExceededException"
			q.Rate = m.Need("rate").NumberOr(1, 1e-3, 1e9)
			q.Burst = max(dynamoDBBurst*q.Rate, 1)
		case "lambda":
			q.Rate = m.Get("rate").NumberOr(lambdaRequests*float64(s.Servers), 1e-3, 1e9)
			q.Burst = max(q.Rate, 1)
		default:
			q.Rate, q.Burst = m.Get("rate").NumberOr(gatewayRate, 1e-3, 1e9), gatewayBurst
		}
	}
	q.Burst = m.Get("burst").NumberOr(q.Burst, 1, 1e12)
	q.Error = nameOr(m.Get("error"), q.Error)
	return q
}

// rampOf parses the limit of new servers: lambda, or a number of them every so often.
func rampOf(v strictyaml.Value) *Quota {
	servers, every, name := float64(lambdaRamp), lambdaRampEvery, "TooManyRequestsException"
	if !v.Is("lambda") {
		m := v.Object("servers", "every", "error")
		servers = m.Need("servers").NumberOr(servers, 1, 1e9)
		every = m.Get("every").DurationOr(every, time.Millisecond, MaxDuration)
		name = nameOr(m.Get("error"), name)
	}
	return &Quota{Rate: servers / every.Seconds(), Burst: servers, Error: name}
}

func (p *parser) service(name string, v strictyaml.Value) Service {
	o := v.Object("servers", "time", "queue", "dropsExpired", "loadSlowdown", "errors", "partitions", "quota", "autoscale",
		"coldStart", "cache", "calls")
	s := Service{
		Name: name, Servers: o.Need("servers").Whole(1, MaxServers), Time: p.distribution(o.Need("time")),
		DropsExpired: o.Get("dropsExpired").Bool(), LoadSlowdown: o.Get("loadSlowdown").DurationOr(0, 0, time.Hour),
	}
	p.downstreams = append(p.downstreams, o.Get("calls"))
	p.capacityOf(o, &s)
	q := o.Get("queue").Object("capacity", "order", "rejection", "target", "interval")
	s.Queue = q.Get("capacity").WholeOr(1000, 0, MaxQueue)
	s.Order = Order(q.Get("order").OneOf(string(FIFO), string(LIFO), string(CoDel)))
	s.Rejection = nameOr(q.Get("rejection"), "ServiceUnavailableError")
	s.Target = q.Get("target").DurationOr(5*time.Millisecond, time.Microsecond, time.Hour)
	s.Interval = q.Get("interval").DurationOr(100*time.Millisecond, time.Microsecond, time.Hour)
	for _, name := range []string{"target", "interval"} {
		if m := q.Get(name); m.Present() && s.Order != CoDel {
			m.Problem("only order: codel has a %s", name)
		}
	}
	total := 0.0
	for _, e := range o.Get("errors").List(0, maxErrors) {
		s.Errors = append(s.Errors, errorMix(e))
		total += s.Errors[len(s.Errors)-1].P
	}
	if total > 1+1e-9 {
		o.Get("errors").Problem("the probabilities add up to %.4g; they must not exceed 1", total)
	}
	return s
}

func errorMix(v strictyaml.Value) ErrorMix {
	o := v.Object("name", "p", "after", "kind", "by")
	e := ErrorMix{
		Name: o.Need("name").Name(), P: o.Need("p").Number(0, 1), After: o.Get("after").DurationOr(-1, 0, MaxDuration),
		Kind: Kind(o.Get("kind").OneOf(string(Transient), string(Permanent), string(Load))),
	}
	if by := o.Get("by"); by.Present() {
		e.ByItem = by.OneOf("attempt", "item") == "item"
	}
	return e
}

func nameOr(v strictyaml.Value, otherwise string) string {
	if name := v.Name(); name != "" {
		return name
	}
	return otherwise
}

func (p *parser) readCalls(v strictyaml.Value) {
	p.calls = map[string]Call{}
	for _, m := range v.Members() {
		o := m.Object("service", "timeout", "timeoutError", "cost")
		c := Call{
			Service: p.serviceIndex(o.Need("service")), Timeout: o.Get("timeout").DurationOr(0, time.Millisecond,
				MaxDuration),
			TimeoutError: nameOr(o.Get("timeoutError"), statesTimeout),
		}
		if cost := o.Get("cost"); cost.Present() {
			c.MemoryMB = memory(cost)
		}
		p.calls[m.Name] = c
	}
}

// memory parses a value such as lambda-1024.
func memory(v strictyaml.Value) int {
	text := v.Text(40)
	digits, ok := strings.CutPrefix(text, "lambda-")
	mb, err := strconv.Atoi(digits)
	if text != "" && (!ok || err != nil || mb < 128 || mb > 10240) {
		v.Problem("%q is not a cost; write lambda-MEMORY with 128 to 10240 MB, such as lambda-1024", text)
		return 0
	}
	return mb
}

func (p *parser) serviceIndex(v strictyaml.Value) int {
	name := v.Name()
	i, ok := p.services[name]
	if name != "" && !ok {
		names := make([]string, len(p.s.Services))
		for i := range p.s.Services {
			names[i] = p.s.Services[i].Name
		}
		v.Problem("there is no service %q; there is %s", name, strings.Join(names, ", "))
	}
	return i
}

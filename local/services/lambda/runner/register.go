package runner

import (
	"cmp"
	"errors"
	"fmt"

	"stepback/aws"
)

var errClosed = errors.New("the Lambda service has been closed")

// Register registers f. A version of a function can be registered only once.
func (s *Service) Register(f Function) error {
	d, err := s.deploy(f)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.functions[d.key()]; taken {
		return fmt.Errorf("function %s is registered already", f.Name)
	}
	return s.install(d)
}

// Replace registers f and replaces the function of the same name and version, if there is one. Running invocations
// finish with the old one.
func (s *Service) Replace(f Function) error {
	d, err := s.deploy(f)
	if err != nil {
		return err
	}
	s.mu.Lock()
	old := s.functions[d.key()]
	err = s.install(d)
	s.mu.Unlock()
	if err == nil && old != nil {
		old.pool.retire()
	}
	return err
}

// Remove removes a version of a function, such as $LATEST. Running invocations finish.
func (s *Service) Remove(name, version string) {
	key := versionKey{name, version}
	s.mu.Lock()
	old := s.functions[key]
	delete(s.functions, key)
	s.mu.Unlock()
	if old != nil {
		old.pool.retire()
	}
}

// SetConcurrency sets the maximum number of concurrent invocations of a function, all versions together. 0 throttles
// every invocation.
func (s *Service) SetConcurrency(name string, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limitOf(name).most.Store(int64(most))
}

// deploy validates a function and makes it ready to be invoked.
func (s *Service) deploy(f Function) (*deployed, error) {
	f = f.withDefaults()
	if err := f.check(); err != nil {
		return nil, err
	}
	d := &deployed{Function: f, arn: s.FunctionARN(f.Name), lost: StreamName(f.Version)}
	var r runner = &processRunner{function: d, region: s.opts.Region, logs: s.opts.Logs,
		initTimeout: cmp.Or(s.opts.InitTimeout, defaultInitTimeout), capacity: s.opts.Capacity}
	if f.Handler != nil {
		r = &handlerRunner{function: d, handler: f.Handler, threads: &s.threads, abandoned: &s.abandoned}
	}
	d.pool = newPool(r, f.Environments, f.Released)
	if f.Handler == nil {
		d.pool.capacity = s.opts.Capacity
		d.pool.capacity.hold(d.pool)
	}
	return d, nil
}

// install registers d. mu is held.
func (s *Service) install(d *deployed) error {
	if s.closed {
		return errClosed
	}
	d.limit = s.limitOf(d.Name)
	d.limit.most.Store(int64(d.Concurrency))
	s.functions[d.key()] = d
	return nil
}

func (s *Service) limitOf(name string) *limit {
	l := s.limits[name]
	if l == nil {
		l = &limit{}
		s.limits[name] = l
	}
	return l
}

func (d *deployed) key() versionKey { return versionKey{d.Name, d.Version} }

// FunctionARN returns the ARN of the function name in the service's region and account.
func (s *Service) FunctionARN(name string) string {
	return aws.Scope{Account: s.opts.Account, Region: s.opts.Region}.ARN("lambda", "function:"+name)
}

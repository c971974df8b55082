package sns

import (
	"cmp"
	"encoding/json"
	"time"

	"stepback/local/services/sns/backoff"
)

// retryPolicy is a healthyRetryPolicy. A nil member means the default.
type retryPolicy struct {
	MinDelay    *int   `json:"minDelayTarget,omitempty"` // in seconds
	MaxDelay    *int   `json:"maxDelayTarget,omitempty"`
	Retries     *int   `json:"numRetries,omitempty"`
	MaxRetries  *int   `json:"numMaxDelayRetries,omitempty"`
	NoRetries   *int   `json:"numNoDelayRetries,omitempty"`
	MinRetries  *int   `json:"numMinDelayRetries,omitempty"`
	BackoffName string `json:"backoffFunction,omitempty"`
}

type throttlePolicy struct {
	Rate int `json:"maxReceivesPerSecond,omitempty"`
}

type requestPolicy struct {
	ContentType string `json:"headerContentType,omitempty"`
}

// subscriptionPolicy is the DeliveryPolicy attribute of a subscription.
type subscriptionPolicy struct {
	Retry    *retryPolicy    `json:"healthyRetryPolicy,omitempty"`
	Sick     *retryPolicy    `json:"sicklyRetryPolicy,omitempty"`
	Throttle *throttlePolicy `json:"throttlePolicy,omitempty"`
	Request  *requestPolicy  `json:"requestPolicy,omitempty"`
}

// topicPolicy is the DeliveryPolicy attribute of a topic.
type topicPolicy struct {
	HTTP struct {
		Retry    *retryPolicy    `json:"defaultHealthyRetryPolicy,omitempty"`
		Sick     *retryPolicy    `json:"defaultSicklyRetryPolicy,omitempty"`
		Fixed    bool            `json:"disableSubscriptionOverrides"`
		Throttle *throttlePolicy `json:"defaultThrottlePolicy,omitempty"`
		Request  *requestPolicy  `json:"defaultRequestPolicy,omitempty"`
	} `json:"http"`
}

const defaultContentType = "text/plain; charset=UTF-8"

// terms determines how HTTP endpoints are called.
type terms struct {
	retry       backoff.Policy
	rate        int // per second; 0 means no limit
	contentType string
}

func defaultTerms() terms { return terms{retry: backoff.HTTP, contentType: defaultContentType} }

// AWS's limits for delivery policies.
const (
	mostRetries = 100
	mostDelay   = 3600 // in seconds, for one retry and for all together
)

// policy returns the retry policy, or a text that describes an error in it.
func (r *retryPolicy) policy() (backoff.Policy, string) {
	p := backoff.HTTP
	set := func(to *int, from *int) {
		if from != nil {
			*to = *from
		}
	}
	set(&p.Retries, r.Retries)
	set(&p.NoDelay, r.NoRetries)
	set(&p.MinDelay, r.MinRetries)
	set(&p.MaxDelay, r.MaxRetries)
	seconds := func(to *time.Duration, from *int) {
		if from != nil {
			*to = time.Duration(*from) * time.Second
		}
	}
	seconds(&p.Min, r.MinDelay)
	seconds(&p.Max, r.MaxDelay)
	p.Function = cmp.Or(r.BackoffName, backoff.Linear)
	switch {
	case p.Retries < 0 || p.Retries > mostRetries:
		return p, "numRetries must be between 0 and 100"
	case p.Min < time.Second || p.Min > mostDelay*time.Second:
		return p, "minDelayTarget must be between 1 and 3600"
	case p.Max < time.Second || p.Max > mostDelay*time.Second:
		return p, "maxDelayTarget must be between 1 and 3600"
	case p.Max < p.Min:
		return p, "maxDelayTarget must be greater than or equal to minDelayTarget"
	case p.NoDelay < 0 || p.MinDelay < 0 || p.MaxDelay < 0:
		return p, "the numbers of retries must be greater than or equal to 0"
	case p.NoDelay+p.MinDelay+p.MaxDelay > p.Retries:
		return p, "numRetries must be greater than or equal to total of numMinDelayRetries, numNoDelayRetries and " +
			"numMaxDelayRetries"
	case p.Function != backoff.Linear && p.Function != backoff.Arithmetic && p.Function != backoff.Geometric &&
		p.Function != backoff.Exponential:
		return p, "backoffFunction must be linear, arithmetic, geometric or exponential"
	case p.Total() > mostDelay*time.Second:
		return p, "the total of the delays must not be more than 3600 seconds"
	}
	return p, ""
}

// retryPolicyOf returns a policy in the form in which attributes show it.
func retryPolicyOf(p backoff.Policy) *retryPolicy {
	minDelay, maxDelay := int(p.Min/time.Second), int(p.Max/time.Second)
	return &retryPolicy{&minDelay, &maxDelay, &p.Retries, &p.MaxDelay, &p.NoDelay, &p.MinDelay, p.Function}
}

func parseTopicPolicy(text, where string) (p topicPolicy, err error) {
	if text == "" {
		return p, nil
	}
	if json.Unmarshal([]byte(text), &p) != nil {
		return p, invalid("%sDeliveryPolicy: failed to parse JSON.", where)
	}
	if p.HTTP.Sick != nil {
		return p, notServed("Policies for endpoints that fail for long (defaultSicklyRetryPolicy) are not served here.")
	}
	return p, p.HTTP.Retry.checked("http.defaultHealthyRetryPolicy", where)
}

func parseSubscriptionPolicy(text, where string) (p subscriptionPolicy, err error) {
	if text == "" {
		return p, nil
	}
	if json.Unmarshal([]byte(text), &p) != nil {
		return p, invalid("%sDeliveryPolicy: failed to parse JSON.", where)
	}
	if p.Sick != nil {
		return p, notServed("Policies for endpoints that fail for long (sicklyRetryPolicy) are not served here.")
	}
	return p, p.Retry.checked("healthyRetryPolicy", where)
}

func (r *retryPolicy) checked(name, where string) error {
	if r == nil {
		return nil
	}
	if _, reason := r.policy(); reason != "" {
		return invalid("%sDeliveryPolicy: %s.%s", where, name, reason)
	}
	return nil
}

// over returns the terms with the given parts of a policy replaced. Parts that are nil stay unchanged.
func (t terms) over(r *retryPolicy, throttle *throttlePolicy, request *requestPolicy) terms {
	if r != nil {
		t.retry, _ = r.policy() // was validated before
	}
	if throttle != nil {
		t.rate = throttle.Rate
	}
	if request != nil && request.ContentType != "" {
		t.contentType = request.ContentType
	}
	return t
}

func (p *topicPolicy) terms() terms {
	return defaultTerms().over(p.HTTP.Retry, p.HTTP.Throttle, p.HTTP.Request)
}

// effectiveOfTopic returns the policy as JSON with all defaults filled in.
func (p *topicPolicy) effectiveOfTopic() string {
	t := p.terms()
	made := topicPolicy{}
	made.HTTP.Retry, made.HTTP.Fixed = retryPolicyOf(t.retry), p.HTTP.Fixed
	made.HTTP.Throttle, made.HTTP.Request = p.HTTP.Throttle, &requestPolicy{t.contentType}
	text, err := json.Marshal(made)
	if err != nil {
		return "" // numbers and strings can always be marshalled
	}
	return string(text)
}

// termsOf returns the terms of a subscription: the topic's, unless the subscription has its own and the topic allows
// that.
func termsOf(topicText, subscriptionText string) terms {
	of, err := parseTopicPolicy(topicText, "")
	if err != nil {
		return defaultTerms() // was validated before
	}
	own, err := parseSubscriptionPolicy(subscriptionText, "")
	if err != nil || of.HTTP.Fixed {
		return of.terms()
	}
	return of.terms().over(own.Retry, own.Throttle, own.Request)
}

// effectiveOfSubscription returns the terms as the JSON of a subscription's policy.
func (t terms) effectiveOfSubscription() string {
	made := subscriptionPolicy{Retry: retryPolicyOf(t.retry), Request: &requestPolicy{t.contentType}}
	if t.rate > 0 {
		made.Throttle = &throttlePolicy{t.rate}
	}
	text, err := json.Marshal(made)
	if err != nil {
		return "" // numbers and strings can always be marshalled
	}
	return string(text)
}

package logstore

// Subscription is a subscription filter of a group: where its matching events are delivered to.
type Subscription struct {
	Name         string `json:"name"`
	Pattern      string `json:"pattern"`
	Destination  string `json:"destination"` // ARN
	Role         string `json:"role,omitempty"`
	Distribution string `json:"distribution,omitempty"`
	Created      int64  `json:"created"` // in milliseconds since 1970
}

// MetricFilter is a metric filter of a group: what its matching events are to a metric.
type MetricFilter struct {
	Name      string `json:"name"`
	Pattern   string `json:"pattern"`
	Namespace string `json:"namespace"`
	Metric    string `json:"metric"`
	// Value is a number, or the selector of one in the event, such as $.latency.
	Value string `json:"value"`
	Unit  string `json:"unit,omitempty"`
	// Default is the value of a minute that has events of which none matches; nil means none.
	Default *float64 `json:"default,omitempty"`
	// Dimensions are the selectors of the dimensions' values, by the dimensions' names.
	Dimensions map[string]string `json:"dimensions,omitempty"`
	Created    int64             `json:"created"` // in milliseconds since 1970
}

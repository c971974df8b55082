package client

import "strings"

// domains lists AWS's domains.
var domains = []string{"amazonaws.com", "amazonaws.com.cn", "amazonaws.eu", "api.aws", "on.aws"}

// IsAWS reports whether a host is one of AWS's own.
func IsAWS(host string) bool {
	host = strings.ToLower(host)
	for _, domain := range domains {
		if host == domain || strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	return false
}

// RegionOf returns the region in an AWS host: eu-west-1 for sqs.eu-west-1.amazonaws.com. A host without a region
// belongs to a global service. In the aws partition, requests to global services are signed for us-east-1, which
// RegionOf returns; in other partitions it returns the fallback.
func RegionOf(host, fallback string) string {
	labels := strings.Split(strings.ToLower(host), ".")
	for _, l := range labels {
		const parts = 3
		p := strings.Split(l, "-")
		last := p[len(p)-1]
		if len(p) >= parts && len(p[0]) <= len("eusc") && last != "" && strings.Trim(last, "0123456789") == "" {
			return l
		}
	}
	if strings.HasSuffix(strings.ToLower(host), ".amazonaws.com") {
		return "us-east-1"
	}
	return fallback
}

// Package kubernetes carries out eks:call and eks:runJob, which call the Kubernetes API of a cluster of EKS: any
// request, or a job with the logs of its pods. Requests go to the Endpoint that the task names, which is checked by the
// cluster's certificate authority, with a token of the caller. It makes and deletes no clusters, and waits for no job:
// see awssdk and jobs.
package kubernetes

// Package kubernetes performs eks:call and eks:runJob, which call the Kubernetes API of an EKS cluster: any request,
// or a job with the logs of its pods. Requests go to the Endpoint that the task names, which is verified with the
// cluster's certificate authority, and carry a token of the caller. The package creates and deletes no clusters, and
// waits for no job: see awssdk and jobs.
package kubernetes

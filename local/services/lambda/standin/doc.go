// Package standin runs functions without a deployment package: as a shell command, as a URL to post to, or as a
// bootstrap binary. It stores nothing; functions created through the Lambda API are handled by package functions.
package standin

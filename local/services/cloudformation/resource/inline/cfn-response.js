exports.SUCCESS = "SUCCESS";
exports.FAILED = "FAILED";

exports.send = function (event, context, responseStatus, responseData, physicalResourceId, noEcho) {
  const body = JSON.stringify({
    Status: responseStatus,
    Reason: "See the details in CloudWatch Log Stream: " + context.logStreamName,
    PhysicalResourceId: physicalResourceId || context.logStreamName,
    StackId: event.StackId,
    RequestId: event.RequestId,
    LogicalResourceId: event.LogicalResourceId,
    NoEcho: noEcho || false,
    Data: responseData,
  });
  const url = new URL(event.ResponseURL);
  const transport = require(url.protocol === "http:" ? "http" : "https");
  const request = transport.request(url, {
    method: "PUT", headers: { "content-type": "", "content-length": Buffer.byteLength(body) },
  }, (response) => { response.resume(); context.done(); });
  request.on("error", (error) => { console.log("send(..) failed executing the request: " + error); context.done(); });
  request.write(body);
  request.end();
};

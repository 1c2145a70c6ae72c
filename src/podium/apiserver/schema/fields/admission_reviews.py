"""What webhooks answer.

`schema/notation.py` explains the notation.
"""

TEXT = """
[admission]
PatchType, StatusReason = string
AdmissionReview object
    request *RawExtension; response *AdmissionResponse
AdmissionResponse
    uid! UID; allowed! bool; status *Status; patch []byte; patchType *PatchType;
    auditAnnotations map[string]string; warnings []string
Status object
    metadata ListMeta; status, message string; reason StatusReason; details *StatusDetails;
    code int32
StatusDetails
    name, group, kind string; uid UID; causes []StatusCause; retryAfterSeconds int32
StatusCause
    reason, message, field string
"""

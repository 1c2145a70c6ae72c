"""APIServices, which say who serves a group version, and requests for certificates.

`schema/notation.py` explains the notation.
"""

TEXT = """
[apiregistration]
APIServiceConditionType, ConditionStatus = string
APIService object
    metadata ObjectMeta; spec APIServiceSpec; status APIServiceStatus
APIServiceSpec
    service *ServiceReference; group, version string; insecureSkipTLSVerify bool; caBundle []byte;
    groupPriorityMinimum!, versionPriority! int32
ServiceReference
    namespace, name string; port *int32
APIServiceStatus
    conditions []APIServiceCondition{type} merge
APIServiceCondition
    type! APIServiceConditionType; status! ConditionStatus; lastTransitionTime Time;
    reason, message string

[certificates]
ExtraValue = []string
KeyUsage, RequestConditionType = string
CertificateSigningRequest object
    metadata ObjectMeta; spec! CertificateSigningRequestSpec;
    status CertificateSigningRequestStatus
CertificateSigningRequestSpec
    request! []byte; signerName! string; expirationSeconds *int32; usages []KeyUsage;
    username, uid string; groups []string; extra map[string]ExtraValue
CertificateSigningRequestStatus
    conditions []CertificateSigningRequestCondition{type}; certificate []byte
CertificateSigningRequestCondition
    type! RequestConditionType; status! ConditionStatus; reason, message string;
    lastUpdateTime, lastTransitionTime Time
"""

"""Roles and the reviews of tokens and access.

Roles are stored, and asked by authorisation; reviews are answered and never stored.
`schema/notation.py` explains the notation.
"""

TEXT = """
[rbac]
Role object
    metadata ObjectMeta; rules+ []PolicyRule
PolicyRule
    verbs!, apiGroups, resources, resourceNames, nonResourceURLs []string
ClusterRole object
    metadata ObjectMeta; rules+ []PolicyRule; aggregationRule *AggregationRule
AggregationRule
    clusterRoleSelectors []LabelSelector
RoleBinding object
    metadata ObjectMeta; subjects []Subject; roleRef! RoleRef
Subject atomic
    kind!, apiGroup, name!, namespace string
RoleRef atomic
    apiGroup+, kind!, name! string
ClusterRoleBinding object
    metadata ObjectMeta; subjects []Subject; roleRef! RoleRef

[authentication]
ExtraValue = []string
TokenReview object
    metadata ObjectMeta; spec! TokenReviewSpec; status TokenReviewStatus
TokenReviewSpec
    token!? string; audiences []string
TokenReviewStatus
    authenticated bool; user UserInfo; audiences []string; error string
TokenRequest object
    metadata ObjectMeta; spec! TokenRequestSpec; status TokenRequestStatus
TokenRequestSpec
    audiences! []string; expirationSeconds *int64; boundObjectRef+ *BoundObjectReference
BoundObjectReference
    kind, apiVersion, name, uid string
TokenRequestStatus
    token! string; expirationTimestamp! Time
UserInfo
    username, uid string; groups []string; extra map[string]ExtraValue
SelfSubjectReview object
    metadata ObjectMeta; status SelfSubjectReviewStatus
SelfSubjectReviewStatus
    userInfo UserInfo

[authorization]
ExtraValue = []string
SubjectAccessReview object
    metadata ObjectMeta; spec! SubjectAccessReviewSpec; status SubjectAccessReviewStatus
SubjectAccessReviewSpec
    resourceAttributes *ResourceAttributes; nonResourceAttributes *NonResourceAttributes;
    user string; groups []string; extra map[string]ExtraValue; uid string
ResourceAttributes
    namespace, verb, group, version, resource, subresource, name string;
    fieldSelector *FieldSelectorAttributes; labelSelector *LabelSelectorAttributes
FieldSelectorAttributes
    rawSelector string; requirements []FieldSelectorRequirement
LabelSelectorAttributes
    rawSelector string; requirements []LabelSelectorRequirement
NonResourceAttributes
    path, verb string
SubjectAccessReviewStatus
    allowed!, denied bool; reason, evaluationError string
LocalSubjectAccessReview object
    metadata ObjectMeta; spec! SubjectAccessReviewSpec; status SubjectAccessReviewStatus
SelfSubjectAccessReview object
    metadata ObjectMeta; spec! SelfSubjectAccessReviewSpec; status SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec
    resourceAttributes *ResourceAttributes; nonResourceAttributes *NonResourceAttributes
SelfSubjectRulesReview object
    metadata ObjectMeta; spec! SelfSubjectRulesReviewSpec; status SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec
    namespace string
SubjectRulesReviewStatus
    resourceRules! []ResourceRule; nonResourceRules! []NonResourceRule; incomplete! bool;
    evaluationError string
ResourceRule
    verbs!, apiGroups, resources, resourceNames []string
NonResourceRule
    verbs!, nonResourceURLs []string

[meta]
FieldSelectorOperator = string
FieldSelectorRequirement
    key! string; operator! FieldSelectorOperator; values []string
"""

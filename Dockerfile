# The Jobwire server on its embedded store. Jobs live in /data: mount a volume there.
FROM node:24-slim

WORKDIR /jobwire
COPY package.json package-lock.json .npmrc ./
COPY packages ./packages
RUN npm ci --omit=dev --ignore-scripts && mkdir /data && chown node:node /data

USER node
VOLUME /data
EXPOSE 7077
# A server that listens beyond loopback wants tokens: give them in JOBWIRE_TOKENS.
CMD ["node", "--conditions=jobwire:source", "packages/cli/src/bin.ts", "serve", "--host", "0.0.0.0", "--data", "/data"]

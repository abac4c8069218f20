# The Jobwire server. On its embedded store, jobs live in /data: mount a volume there. With DATABASE_URL and the command
# `serve --host 0.0.0.0`, they live in PostgreSQL; docker-compose.yml shows it.
FROM node:24-slim

WORKDIR /jobwire
COPY package.json package-lock.json .npmrc ./
COPY packages ./packages
# The optional packages are the PostgreSQL of the tests.
RUN npm ci --omit=dev --omit=optional --ignore-scripts && mkdir /data && chown node:node /data

USER node
VOLUME /data
EXPOSE 7077
ENTRYPOINT ["node", "--conditions=jobwire:source", "packages/cli/src/bin.ts"]
# A server that listens beyond loopback wants tokens: give them in JOBWIRE_TOKENS.
CMD ["serve", "--host", "0.0.0.0", "--data", "/data"]
